import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hchacha20, seal, unseal } from './seal.ts';
import { keyAlgorithms, keyFrom, successorOf } from './key.ts';
import { parseCiphertext } from './ciphertext.ts';

const none = Buffer.alloc(0);
const zeroKey = keyFrom(Buffer.alloc(32), 'AES256-GCM_SHA256');
const base64 = (text: string) => Buffer.from(text, 'base64');

/** Published ciphertexts of 16 zero bytes under the zero key. */
const vectors = {
  JSON: Buffer.from(
    '{"aead":"AES-256-GCM-HMAC-SHA-256","iv":"xLxIN3tSCkg2xMafuvwUwg==","nonce":"gu0mGwUkwcvMEoi5","bytes":"WVgRjeIJm3w50C/l+y7y2i6mbNg5NCAqN1zvOYWZKmc="}',
  ),
  MessagePack: base64(
    'lbFBRVMyNTYtR0NNX1NIQTI1NtkgNjY2ODdhYWRmODYyYmQ3NzZjOGZjMThiOGU5ZjhlMjDEEExv7LAd4oz0SaHZrX5LBufEDEKME1ow1CDfUFrqv8QgJuy7Sw+jVqz99TK1HV851LT3K4mwwDv46TB2ngWkAJQ=',
  ),
};

describe('HChaCha20', () => {
  it('computes the vector of the draft', () => {
    const key = Buffer.from(Array.from({ length: 32 }, (_, i) => i));
    const nonce = Buffer.from('000000090000004a0000000031415927', 'hex');
    expect(hchacha20(key, nonce).toString('hex')).toBe(
      '82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc',
    );
  });
});

describe('unseal', () => {
  it.each(Object.entries(vectors))('reads the published %s ciphertext', (_, ciphertext) => {
    expect(unseal(zeroKey, ciphertext, none)).toEqual(Buffer.alloc(16));
  });

  it('refuses a ciphertext that names another key', () => {
    const other = keyFrom(Buffer.alloc(32, 1), 'AES256-GCM_SHA256');
    expect(() => unseal(other, vectors.MessagePack, none)).toThrow(expect.objectContaining({ code: 'not-authentic' }));
  });

  it('refuses bytes of any kind without another error', () => {
    const looksStructured = fc
      .tuple(fc.constantFrom(0x7b, 0x95, 0x00), fc.uint8Array({ maxLength: 200 }))
      .map(([first, rest]) => Buffer.from([first, ...rest]));
    fc.assert(
      fc.property(looksStructured, (bytes) => {
        expect(() => unseal(zeroKey, bytes, none)).toThrow(expect.objectContaining({ code: 'not-authentic' }));
      }),
    );
  });

  it.each(['null}', '{}', '{"aead":"AES-256-GCM-HMAC-SHA-256"}', '{"aead":1,"iv":2}'])('refuses %s', (text) => {
    expect(() => unseal(zeroKey, Buffer.from(text), none)).toThrow(expect.objectContaining({ code: 'not-authentic' }));
  });
});

describe.each(keyAlgorithms)('seal with %s', (algorithm) => {
  const key = keyFrom(Buffer.alloc(32, 7), algorithm);

  it('is undone by unseal with the same key and context alone', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.uint8Array({ maxLength: 40 }), (text, context) => {
        const sealed = seal(key, Buffer.from(text), Buffer.from(context));
        expect(sealed).toHaveLength(text.length + 44);
        expect(unseal(key, sealed, Buffer.from(context))).toEqual(Buffer.from(text));
        expect(() => unseal(key, sealed, Buffer.from([...context, 0]))).toThrow(
          expect.objectContaining({ code: 'not-authentic' }),
        );
      }),
    );
  });

  it('names the key where it is a later version, whatever the length', () => {
    const later = successorOf(key, 'k', new Date(0));
    for (const length of [0, 1, 239, 240, 300, 70_000]) {
      const sealed = seal(later, Buffer.alloc(length, 1), none);
      expect(parseCiphertext(sealed)?.keyId).toBe(later.id);
      expect(unseal(later, sealed, none)).toHaveLength(length);
    }
  });

  it('shows a change of any byte', () => {
    const sealed = seal(key, Buffer.from('secret'), none);
    for (let i = 0; i < sealed.length; i++) {
      const changed = Buffer.from(sealed);
      changed[i] = (changed[i] ?? 0) ^ 1;
      expect(() => unseal(key, changed, none)).toThrow(expect.objectContaining({ code: 'not-authentic' }));
    }
  });

  it('reads its own ciphertext even where it begins like one of the other encodings', () => {
    for (const first of [0x7b, 0x95]) {
      let sealed: Buffer;
      do sealed = seal(key, Buffer.from('secret'), none);
      while (sealed[0] !== first);
      expect(unseal(key, sealed, none).toString()).toBe('secret');
    }
  });
});
