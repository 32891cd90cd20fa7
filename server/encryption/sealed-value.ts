import { createCipheriv, createDecipheriv } from 'node:crypto';
import { SealedRecordsError } from './sealed-record-store.ts';

/**
 * A value of a sealed record: the first byte tells the format. Plain: 0, then the value. Sealed: 1, 12 bytes of nonce, AES-256-GCM
 * ciphertext, 16 of tag, bound to the key of its record, so that a value moved to another record does not open.
 */
const PLAIN = 0;
const SEALED = 1;
const NONCE_END = 1 + 12;
const TAG_SIZE = 16;

export function isPlain(stored: Buffer): boolean {
  return stored[0] === PLAIN;
}

export function plainValue(value: Buffer): Buffer {
  return Buffer.concat([Buffer.of(PLAIN), value]);
}

/** The nonce is random: one key seals at most 2^32 values, which no backend reaches. */
export function sealValue(
  value: Buffer,
  recordKey: Buffer,
  backendKey: Buffer,
  random: (size: number) => Buffer,
): Buffer {
  const nonce = random(12);
  const cipher = createCipheriv('aes-256-gcm', backendKey, nonce);
  cipher.setAAD(recordKey);
  const sealed = cipher.update(value);
  cipher.final();
  return Buffer.concat([Buffer.of(SEALED), nonce, sealed, cipher.getAuthTag()]);
}

/** The value again; `backendKey` undefined while sealing is off. Throws `SealedRecordsError`. */
export function openValue(stored: Buffer, recordKey: Buffer, backendKey: Buffer | undefined): Buffer {
  if (isPlain(stored)) return stored.subarray(1);
  if (stored[0] !== SEALED || stored.length < NONCE_END + TAG_SIZE) {
    throw new SealedRecordsError(
      'newer-format',
      `a record has format ${stored[0]}, which this server does not know: start the newer server that wrote it`,
    );
  }
  if (backendKey === undefined) {
    throw new SealedRecordsError('key-service-needed', 'a record is sealed, and no key service is configured');
  }
  const end = stored.length - TAG_SIZE;
  const decipher = createDecipheriv('aes-256-gcm', backendKey, stored.subarray(1, NONCE_END), {
    authTagLength: TAG_SIZE,
  });
  decipher.setAAD(recordKey);
  decipher.setAuthTag(stored.subarray(end));
  const value = decipher.update(stored.subarray(NONCE_END, end));
  try {
    decipher.final();
  } catch (error) {
    throw new SealedRecordsError(
      'wrong-key',
      'a sealed record cannot be opened: it was changed, or sealed with another key (changed or wrong key)',
      { cause: error },
    );
  }
  return value;
}
