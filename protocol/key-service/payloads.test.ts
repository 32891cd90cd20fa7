import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decryptRequest, generateRequest, parseKeyList, writeKeyList } from './payloads.ts';

describe('a list of keys', () => {
  it('is read from the lines of the first generation', () => {
    expect(parseKeyList('{"name":"a"}\n{"name":"b","created_by":"x"}\n').names).toEqual(['a', 'b']);
  });

  it('is read from the object of the second generation', () => {
    expect(parseKeyList('{"names":["a","b"],"continue_at":"c"}')).toEqual({ names: ['a', 'b'], continueAt: 'c' });
    expect(parseKeyList('{"names":null,"continue_at":""}')).toEqual({ names: [] });
  });

  it('fails with the text of the service where it broke off', () => {
    expect(() => parseKeyList('{"name":"a"}\n{"error":"bad gateway: failed to list keys"}\n')).toThrow(
      /failed to list/,
    );
  });

  it('is written so that both generations read all of it', () => {
    const keyName = fc.stringMatching(/^[A-Za-z0-9_-]{1,80}$/);
    fc.assert(
      fc.property(fc.uniqueArray(keyName), (names) => {
        const text = writeKeyList(names);
        expect(parseKeyList(text).names).toEqual(names);
        const lines = text.split('\n').filter((line) => line !== '');
        expect(lines.map((line) => (JSON.parse(line) as { name: string }).name)).toEqual(names);
        if (names.length > 0) expect((JSON.parse(lines[0] ?? '') as { names: string[] }).names).toEqual(names);
      }),
    );
  });
});

describe('byte fields', () => {
  it('are base64 of the standard alphabet', () => {
    expect(decryptRequest.parse({ ciphertext: '+/8=' }).ciphertext).toEqual(Buffer.from([0xfb, 0xff]));
    expect(generateRequest.safeParse({ context: 'not base64!' }).success).toBe(false);
  });

  it('may lack a context', () => {
    expect(generateRequest.parse({}).context).toBeUndefined();
  });
});

describe('the bytes of a request', () => {
  it('may have line breaks, as in PEM, and no other characters than those of base64', () => {
    expect(decryptRequest.parse({ ciphertext: 'AAEC\r\nAwQ=\n' }).ciphertext).toEqual(Buffer.from([0, 1, 2, 3, 4]));
    for (const ciphertext of ['AAEC AwQ=', 'AAE', '*', 5]) {
      expect(decryptRequest.safeParse({ ciphertext }).success).toBe(false);
    }
  });

  it('may be null for a context', () => {
    expect(generateRequest.parse({ context: null })).toEqual({ context: undefined });
  });
});
