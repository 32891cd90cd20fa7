import { describe, expect, it } from 'vitest';
import { secretValue } from './render-context.ts';

const valueOf = (password: string) =>
  secretValue(
    new Map([['database', { name: 'database', data: { password } }]]),
    { name: 'database', key: 'password' },
    'spec.records.passwordSecret',
    'own',
  );

describe('the value of a Secret', () => {
  it.each(['secret', 'secret\n', 'secret\r\n'])('%j is its line, as the server reads it', (text) => {
    expect(valueOf(text)).toBe('secret');
  });

  it('is refused by name where it cannot be meant', () => {
    const latin1 = Buffer.from('pässword', 'latin1').toString('utf8');
    expect(() => valueOf(latin1)).toThrow(
      'spec.records.passwordSecret: password of the Secret database has bytes that are not UTF-8',
    );
    expect(() => valueOf('secret ')).toThrow('begins or ends with a blank');
  });
});
