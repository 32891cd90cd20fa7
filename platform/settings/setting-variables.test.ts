import { describe, expect, it } from 'vitest';
import { settingVariables } from './setting-variables.ts';

const read = (env: Record<string, string>) =>
  settingVariables(env, { prefixes: ['KEYSVC_'], secrets: ['KEYSVC_PASSWORD'] });

describe('the variables of a program', () => {
  it('end before a line end and blanks, but for those of others', () => {
    expect(read({ KEYSVC_SERVER: ' https://h \r\n', KEYSVC_PASSWORD: 'a b\r\n', PATH: '/bin ' })).toEqual({
      KEYSVC_SERVER: 'https://h',
      KEYSVC_PASSWORD: 'a b',
      PATH: '/bin ',
    });
  });

  it('are refused by their names, all at once', () => {
    expect(() => read({ KEYSVC_PASSWORD: 'a ', KEYSVC_SERVER: '\uFFFD', PATH: '\uFFFD' })).toThrow(
      'the environment variable KEYSVC_PASSWORD begins or ends with a blank: remove it, or choose another secret\n' +
        'the environment variable KEYSVC_SERVER has bytes that are not UTF-8',
    );
  });
});
