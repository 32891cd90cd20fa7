import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { CipherGCMTypes } from 'node:crypto';
import { ivBytes, nonceBytes, tagBytes, writeCiphertext } from './ciphertext.ts';
import { hchacha20 } from './hchacha20.ts';
import type { Key, KeyAlgorithm } from './key.ts';
import { writeMessagePackCiphertext } from './message-pack-ciphertext.ts';
import { parseCiphertext } from './parse-ciphertext.ts';

/** Key, context or bytes are not those that something was sealed with; which of them cannot be told. */
export class NotAuthentic extends Error {
  override readonly name = 'NotAuthentic';
  readonly code = 'not-authentic';
}

/**
 * Seals a text under a key, bound to a context (may be empty). Each message has a key of its own, derived from a random iv, so
 * that random nonces never meet under one key.
 */
export function seal(key: Key, plaintext: Buffer, context: Buffer, random = randomBytes): Buffer {
  const iv = random(ivBytes);
  const nonce = random(nonceBytes);
  const { cipher, messageKey } = messageKeyOf(key, key.algorithm, iv);
  const encryption = createCipheriv(cipher, messageKey, nonce, { authTagLength: tagBytes });
  encryption.setAAD(context, { plaintextLength: plaintext.length });
  const sealed = Buffer.concat([encryption.update(plaintext), encryption.final(), encryption.getAuthTag()]);
  // A first version seals as the later releases do. What another version sealed must name it.
  return key.rotation === undefined
    ? writeCiphertext({ iv, nonce, sealed })
    : writeMessagePackCiphertext({ algorithm: key.algorithm, keyId: key.id, iv, nonce, sealed });
}

/** Errors with `NotAuthentic`. */
export function unseal(key: Key, ciphertext: Buffer, context: Buffer): Buffer {
  const parts = parseCiphertext(ciphertext);
  if (parts === undefined || (parts.keyId !== undefined && parts.keyId !== key.id)) throw new NotAuthentic();
  const { cipher, messageKey } = messageKeyOf(key, parts.algorithm ?? key.algorithm, parts.iv);
  const decryption = createDecipheriv(cipher, messageKey, parts.nonce, { authTagLength: tagBytes });
  const end = parts.sealed.length - tagBytes;
  decryption.setAAD(context, { plaintextLength: end });
  decryption.setAuthTag(parts.sealed.subarray(end));
  try {
    return Buffer.concat([decryption.update(parts.sealed.subarray(0, end)), decryption.final()]);
  } catch (error) {
    throw new NotAuthentic('the ciphertext is not authentic', { cause: error });
  }
}

const ciphers: Readonly<Record<KeyAlgorithm, CipherGCMTypes>> = {
  'AES256-GCM_SHA256': 'aes-256-gcm',
  // Node's types give the cipher an interface of its own, though the calls are the same.
  'XCHACHA20-POLY1305': 'chacha20-poly1305' as string as CipherGCMTypes,
};

function messageKeyOf(key: Key, algorithm: KeyAlgorithm, iv: Buffer): { cipher: CipherGCMTypes; messageKey: Buffer } {
  const aes = algorithm === 'AES256-GCM_SHA256';
  const messageKey = aes ? createHmac('sha256', key.bytes).update(iv).digest() : hchacha20(key.bytes, iv);
  return { cipher: ciphers[algorithm], messageKey };
}
