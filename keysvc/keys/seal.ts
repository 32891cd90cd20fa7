import { createCipheriv, createDecipheriv, createHmac, randomBytes, type CipherGCMTypes } from 'node:crypto';
import {
  ivBytes,
  nonceBytes,
  tagBytes,
  writeCiphertext,
  writeMessagePackCiphertext,
  parseCiphertext,
} from './ciphertext.ts';
import { KeyError } from '../keystores/keystore.ts';
import type { Key, KeyAlgorithm } from './key.ts';
import type { KeyVersions } from './key-versions.ts';

/**
 * Derives a 32-byte key from a key and 16 bytes of nonce, the first step of XChaCha20.
 *
 * @see https://datatracker.ietf.org/doc/html/draft-irtf-cfrg-xchacha-03#section-2.2
 */
export function hchacha20(key: Buffer, nonce: Buffer): Buffer {
  if (key.length !== 32 || nonce.length !== 16)
    throw new RangeError('HChaCha20 takes a key of 32 and a nonce of 16 bytes');
  const state = new Uint32Array(16);
  state.set([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]);
  for (let i = 0; i < 8; i++) state[4 + i] = key.readUInt32LE(4 * i);
  for (let i = 0; i < 4; i++) state[12 + i] = nonce.readUInt32LE(4 * i);
  for (let round = 0; round < 10; round++) {
    quarter(state, 0, 4, 8, 12);
    quarter(state, 1, 5, 9, 13);
    quarter(state, 2, 6, 10, 14);
    quarter(state, 3, 7, 11, 15);
    quarter(state, 0, 5, 10, 15);
    quarter(state, 1, 6, 11, 12);
    quarter(state, 2, 7, 8, 13);
    quarter(state, 3, 4, 9, 14);
  }
  const out = Buffer.alloc(32);
  for (let i = 0; i < 4; i++) {
    out.writeUInt32LE(state[i] ?? 0, 4 * i);
    out.writeUInt32LE(state[12 + i] ?? 0, 16 + 4 * i);
  }
  return out;
}

function quarter(s: Uint32Array, a: number, b: number, c: number, d: number): void {
  addThenRotate(s, a, b, d, 16);
  addThenRotate(s, c, d, b, 12);
  addThenRotate(s, a, b, d, 8);
  addThenRotate(s, c, d, b, 7);
}

/** s[to] += s[from]; s[mixed] = (s[mixed] ^ s[to]) <<< bits */
function addThenRotate(s: Uint32Array, to: number, from: number, mixed: number, bits: number): void {
  const sum = ((s[to] ?? 0) + (s[from] ?? 0)) >>> 0;
  const x = (s[mixed] ?? 0) ^ sum;
  s[to] = sum;
  s[mixed] = (x << bits) | (x >>> (32 - bits));
}

/**
 * Encrypts a text with a key and binds it to a context, which may be empty. Each message has its own key, derived from a random iv, so that
 * random nonces never repeat under one key.
 */
export function seal(key: Key, plaintext: Buffer, context: Buffer, random = randomBytes): Buffer {
  const iv = random(ivBytes);
  const nonce = random(nonceBytes);
  const { cipher, messageKey } = messageKeyOf(key, key.algorithm, iv);
  const encryption = createCipheriv(cipher, messageKey, nonce, { authTagLength: tagBytes });
  encryption.setAAD(context, { plaintextLength: plaintext.length });
  const sealed = Buffer.concat([encryption.update(plaintext), encryption.final(), encryption.getAuthTag()]);
  // A first version writes the encoding of the later releases. Ciphertexts of other versions must name the version.
  return key.rotation === undefined
    ? writeCiphertext({ iv, nonce, sealed })
    : writeMessagePackCiphertext({ algorithm: key.algorithm, keyId: key.id, iv, nonce, sealed });
}

/** @throws KeyError `not-authentic` */
export function unseal(key: Key, ciphertext: Buffer, context: Buffer): Buffer {
  const parts = parseCiphertext(ciphertext);
  if (parts === undefined || (parts.keyId !== undefined && parts.keyId !== key.id)) throw notAuthentic();
  const { cipher, messageKey } = messageKeyOf(key, parts.algorithm ?? key.algorithm, parts.iv);
  const decryption = createDecipheriv(cipher, messageKey, parts.nonce, { authTagLength: tagBytes });
  const end = parts.sealed.length - tagBytes;
  decryption.setAAD(context, { plaintextLength: end });
  decryption.setAuthTag(parts.sealed.subarray(end));
  try {
    return Buffer.concat([decryption.update(parts.sealed.subarray(0, end)), decryption.final()]);
  } catch (error) {
    throw notAuthentic({ cause: error });
  }
}

const ciphers: Readonly<Record<KeyAlgorithm, CipherGCMTypes>> = {
  'AES256-GCM_SHA256': 'aes-256-gcm',
  // Node's types have a separate interface for this cipher, but the calls are the same.
  'XCHACHA20-POLY1305': 'chacha20-poly1305' as string as CipherGCMTypes,
};

function messageKeyOf(key: Key, algorithm: KeyAlgorithm, iv: Buffer): { cipher: CipherGCMTypes; messageKey: Buffer } {
  const aes = algorithm === 'AES256-GCM_SHA256';
  const messageKey = aes ? createHmac('sha256', key.bytes).update(iv).digest() : hchacha20(key.bytes, iv);
  return { cipher: ciphers[algorithm], messageKey };
}

/**
 * Decrypts with the version that the ciphertext names or, where it names none, with any version that fits.
 *
 * @throws KeyError `not-authentic`, or `unknown-version` where it names an unknown version, which may be newer
 */
export function unsealWithVersions({ all, refusal }: KeyVersions, ciphertext: Buffer, context: Buffer): Buffer {
  const keyId = parseCiphertext(ciphertext)?.keyId;
  const candidates = keyId === undefined ? all : all.filter(({ id }) => id === keyId);
  // The version may be one that the store does not let this server read.
  if (candidates.length === 0 && refusal !== undefined) throw refusal;
  if (candidates.length === 0) throw new KeyError('unknown-version', 'the ciphertext names another key');
  return unsealWithAny(candidates, ciphertext, context);
}

function unsealWithAny(candidates: readonly Key[], ciphertext: Buffer, context: Buffer): Buffer {
  for (const key of candidates) {
    try {
      return unseal(key, ciphertext, context);
    } catch (error) {
      if (!(error instanceof KeyError && error.code === 'not-authentic')) throw error;
    }
  }
  throw notAuthentic();
}

function notAuthentic(options?: ErrorOptions): KeyError {
  return new KeyError('not-authentic', 'the ciphertext is not authentic', options);
}
