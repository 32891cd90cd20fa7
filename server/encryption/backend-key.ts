import { createCipheriv, createDecipheriv } from 'node:crypto';
import { z } from 'zod';
import { commitOnce } from '../store/commits.ts';
import { key } from '../store/keys.ts';
import type { Entry, RecordStore } from '../store/record-store.ts';
import { StoreError } from '../store/store-error.ts';
import { type KeySource, type SealedDataKey } from './key-source.ts';
import { KeyServiceError } from '../../platform/key-service/exchange.ts';

/**
 * The first byte of a sealed record's value is its format. Plain: 0, then the value. Sealed: 1, 12 bytes of nonce, AES-256-GCM
 * ciphertext, 16 bytes of tag. The record's key is associated data, so a value that is moved to another record does not open.
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

/**
 * Checks that a stored value has the form of a sealed record's, without opening it.
 *
 * @throws StoreError unreadable-record
 */
export function checkSealedForm(stored: Buffer, what: string): void {
  if (isPlain(stored) || (stored[0] === SEALED && stored.length >= NONCE_END + TAG_SIZE)) return;
  const form = stored.length === 0 ? 'is empty' : `is damaged, or of a newer server (format ${stored[0]})`;
  throw new StoreError('unreadable-record', `the record ${what} ${form}`);
}

/** Seals a value with a random nonce. One key may seal 2^32 values, which no backend reaches. */
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

/** Opens a value. `backendKey` is undefined while sealing is off. Throws `StoreError`. */
export function openValue(stored: Buffer, recordKey: Buffer, backendKey: Buffer | undefined): Buffer {
  if (isPlain(stored)) return stored.subarray(1);
  if (stored[0] !== SEALED || stored.length < NONCE_END + TAG_SIZE) {
    throw new StoreError(
      'newer-format',
      `a record has format ${stored[0]}, which this server does not know: start the newer server that wrote it`,
    );
  }
  if (backendKey === undefined) {
    throw new StoreError('key-service-needed', 'a record is sealed, and no key service is configured');
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
    throw new StoreError(
      'wrong-key',
      'a sealed record cannot be opened: it was changed, or sealed with another key (changed or wrong key)',
      { cause: error },
    );
  }
  return value;
}

/**
 * The key of the record that holds the data key of the sealed backend, which the key service has sealed. Sealing is on if the record
 * exists. It is never deleted.
 */
export const backendKeyRecord = key('k', 'backend');
const FORMAT = 1;
const context = { 'coffer:backend': 'records' };

interface BackendKey {
  /** Undefined while sealing is off. */
  readonly key: Buffer | undefined;
  /** True once every record is sealed. Before that, plain records remain from the time without a key service. */
  readonly everythingSealed: boolean;
  markEverythingSealed(): Promise<void>;
}

/**
 * Opens the key. With `turnOn`, it makes the key when a key service is configured for the first time. Throws `StoreError` and
 * `KeyServiceError`.
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
  const opened = await unseal(keys, sealed);
  await adopt(keys, sealed.keyName);
  return {
    key: opened,
    everythingSealed,
    async markEverythingSealed() {
      const expect = [{ kind: 'revision' as const, key: backendKeyRecord, revision: known.revision }];
      // A conflict means that another thread marked it.
      await commitOnce(records, { expect, put: [{ key: backendKeyRecord, value: encode(sealed, true) }] }, random);
    },
  };
}

/** Returns undefined without a key service. */
async function turnSealingOn(
  records: RecordStore,
  keys: KeySource,
  random: (size: number) => Buffer,
): Promise<Entry | undefined> {
  let sealed;
  try {
    ({ sealed } = await keys.generate(keys.defaultKey, context));
  } catch (error) {
    if (error instanceof KeyServiceError && error.code === 'not-configured') return undefined;
    throw error;
  }
  // If several threads start at once, one of them makes the key, and all read it.
  const expect = [{ kind: 'absent' as const, key: backendKeyRecord }];
  await commitOnce(records, { expect, put: [{ key: backendKeyRecord, value: encode(sealed, false) }] }, random);
  return records.get(backendKeyRecord);
}

async function unseal(keys: KeySource, sealed: SealedDataKey): Promise<Buffer> {
  try {
    return await keys.unseal(sealed, context);
  } catch (error) {
    if (!(error instanceof KeyServiceError)) throw error;
    const options = { cause: error };
    switch (error.code) {
      case 'not-configured':
        throw new StoreError(
          'key-service-needed',
          `identities and settings of this data folder are sealed under the key ${sealed.keyName}, and no key service is configured: ` +
            'set SVC_KMS_KEYSVC_ENDPOINT, or SVC_KMS_SECRET_KEY, as before (sealing cannot be undone)',
          options,
        );
      case 'not-authentic':
      case 'key-not-found':
        throw new StoreError(
          'wrong-key',
          `identities and settings are sealed under the key ${sealed.keyName} (version ${sealed.keyVersion ?? 'unknown'}), which the key ` +
            `service does not have: changed or wrong key, or another key service (${error.message})`,
          options,
        );
      case 'wrong-key':
      case 'not-permitted':
      case 'unavailable':
      case 'invalid-request':
      case 'key-exists':
      case 'not-supported':
        throw error;
    }
  }
}

/** Makes the canary of a key that has sealed the backend of an earlier release, which made none. */
async function adopt(keys: KeySource, keyName: string): Promise<void> {
  try {
    await keys.adoptKey(keyName);
  } catch (error) {
    // A former default key may only decrypt. The backend's own key proves it at each start.
    if (!(error instanceof KeyServiceError) || error.code !== 'not-permitted') throw error;
  }
}

/** Returns the name of the key that sealed the backend. */
export function keyOfBackend(value: Buffer): string {
  return decode(value).sealed.keyName;
}

function encode(sealed: SealedDataKey, everythingSealed: boolean): Buffer {
  return Buffer.concat([Buffer.of(FORMAT), Buffer.from(JSON.stringify({ ...sealed, everythingSealed }))]);
}

/**
 * Checks the record of the backend's key without opening the key.
 *
 * @throws StoreError unreadable-record
 */
export function checkBackendKey(value: Buffer): void {
  if (value[0] !== FORMAT) throw damagedBackendKey(`it has format ${value[0]}`);
  decode(value);
}

const recordSchema = z.looseObject({ keyName: z.string().min(1), ciphertext: z.string().min(1) });

function decode(value: Buffer): { sealed: SealedDataKey; everythingSealed: boolean } {
  if (value[0] !== FORMAT) {
    throw new StoreError(
      'newer-format',
      `the record of the backend's key has format ${value[0]}, which this server does not know: start the newer server that wrote it`,
    );
  }
  const read = parse(value.toString('utf8', 1));
  if (!recordSchema.safeParse(read).success) throw damagedBackendKey('it does not name its key');
  const { everythingSealed, ...sealed } = read as SealedDataKey & { readonly everythingSealed: boolean };
  return { sealed, everythingSealed };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw damagedBackendKey('it is not JSON', error);
  }
}

/** The key cannot be made anew: identities and settings are sealed under it. */
function damagedBackendKey(how: string, cause?: unknown): StoreError {
  return new StoreError(
    'unreadable-record',
    `the record of the key of identities and settings is damaged (${how}): restore the records from a snapshot or a backup`,
    { cause },
  );
}
