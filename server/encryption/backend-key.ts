import { createCipheriv, createDecipheriv } from 'node:crypto';
import { commitOnce } from '../store/commit-once.ts';
import { key } from '../store/keys.ts';
import type { Entry, RecordStore } from '../store/record-store.ts';
import { type KeySource, KeySourceError, type SealedDataKey } from './key-source.ts';

/** `key-service-needed`: sealed before, no key service configured now. `wrong-key`: the default key is not the one that sealed. */
type SealedRecordsErrorCode = 'key-service-needed' | 'wrong-key' | 'newer-format' | 'not-sealed';

export class SealedRecordsError extends Error {
  override readonly name = 'SealedRecordsError';
  readonly code: SealedRecordsErrorCode;
  constructor(code: SealedRecordsErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

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

/**
 * The data key of the sealed backend, itself sealed by the key service. That its record exists means that sealing is on, for good:
 * nothing ever deletes it.
 */
export const backendKeyRecord = key('k', 'backend');
const FORMAT = 1;
const context = { 'coffer:backend': 'records' };

interface BackendKey {
  /** Undefined while sealing is off. */
  readonly key: Buffer | undefined;
  /** Whether every record was sealed; before that, plain ones are left from the time without a key service. */
  readonly everythingSealed: boolean;
  markEverythingSealed(): Promise<void>;
}

/**
 * Opens the key; with `turnOn`, makes it where a key service is configured for the first time. Throws `SealedRecordsError` and
 * `KeySourceError`.
 */
export async function openBackendKey(
  records: RecordStore,
  keys: KeySource,
  random: (size: number) => Buffer,
  turnOn: boolean,
): Promise<BackendKey> {
  const found = await records.get(backendKeyRecord);
  const known = found ?? (turnOn ? await turnSealingOn(records, keys, random) : undefined);
  if (known === undefined)
    return { key: undefined, everythingSealed: false, markEverythingSealed: () => Promise.resolve() };
  const { sealed, everythingSealed } = decode(known.value);
  return {
    key: await unseal(keys, sealed),
    everythingSealed,
    async markEverythingSealed() {
      const expect = [{ kind: 'revision' as const, key: backendKeyRecord, revision: known.revision }];
      // A conflict means that another thread marked it.
      await commitOnce(records, { expect, put: [{ key: backendKeyRecord, value: encode(sealed, true) }] }, random);
    },
  };
}

/** Undefined without a key service. */
async function turnSealingOn(
  records: RecordStore,
  keys: KeySource,
  random: (size: number) => Buffer,
): Promise<Entry | undefined> {
  let sealed;
  try {
    ({ sealed } = await keys.generate(keys.defaultKey, context));
  } catch (error) {
    if (error instanceof KeySourceError && error.code === 'not-configured') return undefined;
    throw error;
  }
  // Of several threads that start at once, one makes the key; all read it.
  const expect = [{ kind: 'absent' as const, key: backendKeyRecord }];
  await commitOnce(records, { expect, put: [{ key: backendKeyRecord, value: encode(sealed, false) }] }, random);
  return records.get(backendKeyRecord);
}

async function unseal(keys: KeySource, sealed: SealedDataKey): Promise<Buffer> {
  try {
    return await keys.unseal(sealed, context);
  } catch (error) {
    if (!(error instanceof KeySourceError)) throw error;
    const options = { cause: error };
    switch (error.code) {
      case 'not-configured':
        throw new SealedRecordsError(
          'key-service-needed',
          `identities and settings of this data folder are sealed under the key ${sealed.keyName}, and no key service is configured: ` +
            'set SVC_KMS_KEYSVC_ENDPOINT, or SVC_KMS_SECRET_KEY, as before (sealing cannot be undone)',
          options,
        );
      case 'not-authentic':
      case 'key-not-found':
        throw new SealedRecordsError(
          'wrong-key',
          `identities and settings are sealed under the key ${sealed.keyName} (version ${sealed.keyVersion ?? 'unknown'}), which the key ` +
            `service does not have: changed or wrong key, or another key service (${error.message})`,
          options,
        );
      case 'not-permitted':
      case 'unavailable':
        throw error;
    }
  }
}

/** The name of the key that the backend is sealed under. */
export function keyOfBackend(value: Buffer): string {
  return decode(value).sealed.keyName;
}

function encode(sealed: SealedDataKey, everythingSealed: boolean): Buffer {
  return Buffer.concat([Buffer.of(FORMAT), Buffer.from(JSON.stringify({ ...sealed, everythingSealed }))]);
}

function decode(value: Buffer): { sealed: SealedDataKey; everythingSealed: boolean } {
  if (value[0] !== FORMAT) {
    throw new SealedRecordsError(
      'newer-format',
      `the record of the backend's key has format ${value[0]}, which this server does not know: start the newer server that wrote it`,
    );
  }
  const read = JSON.parse(value.toString('utf8', 1)) as SealedDataKey & { readonly everythingSealed: boolean };
  const { everythingSealed, ...sealed } = read;
  return { sealed, everythingSealed };
}
