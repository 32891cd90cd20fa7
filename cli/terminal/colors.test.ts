import { describe, expect, it } from 'vitest';
import { paintFor } from './colors.ts';

describe('colors', () => {
  it('show the meaning on a terminal', () => {
    expect(paintFor({ isTTY: true }, {})('error', 'no')).toBe('\u001b[31mno\u001b[0m');
  });

  it.each<[string, boolean, NodeJS.ProcessEnv, boolean]>([
    ['off a terminal', false, {}, true],
    ['with NO_COLOR', true, { NO_COLOR: '1' }, true],
    ['on a dumb terminal', true, { TERM: 'dumb' }, true],
    ['with --no-color', true, {}, false],
  ])('are left out %s', (_, isTTY, env, wanted) => {
    expect(paintFor({ isTTY }, env, wanted)('error', 'no')).toBe('no');
  });

  it('stay with an empty NO_COLOR, as its convention has it', () => {
    expect(paintFor({ isTTY: true }, { NO_COLOR: '' })('title', 'x')).not.toBe('x');
  });
});
