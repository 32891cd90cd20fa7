import { commitOnce } from '../store/commit-once.ts';
import { key } from '../store/keys.ts';
import type { Entry, RecordStore } from '../store/record-store.ts';
import { type KeySource, KeySourceError, type SealedDataKey } from './key-source.ts';
import { SealedRecordsError } from './sealed-record-store.ts';

/**
 * The data key of the sealed backend, itself sealed by the key service. That its record exists means that sealing is on, for good:
 * nothing ever deletes it.
 */
export const backendKeyRecord = key('k', 'backend');
const FORMAT = 1;
const context = { 'coffer:backend': 'records' };

export interface BackendKey {
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
