import {
  type ObjectPlace,
  openObjectKey,
  newObjectKey,
  sealObjectKey,
  OpenedObjectKey,
  type CustomerKey,
} from '../../encryption/object-key.ts';
import { openCustomerSealed } from './customer-keys.ts';
import { type ChosenEncryption, dataKeyContext } from './decide-encryption.ts';
import type { Environment } from '../context.ts';
import type { SealedKeys, ServiceSealedKeys } from '../records/object-record.ts';

/** Keys of all data keys together, some 600 bytes each. */
const MOST = 8_192;

interface Known {
  /** What the key is bound to. */
  readonly place: ObjectPlace;
  readonly objectKey: OpenedObjectKey;
}

/**
 * The object keys that a thread opened last. Each hangs on the data key that opened it, and is found only by who has that very buffer: a
 * data key that is dropped from its cache takes with it what it opened, so that nothing outlives the five minutes of
 * `unsealedKeyLimits`. Keys of clients are never here.
 */
export class OpenedObjectKeys {
  readonly #most: number;
  /** By the data key, then by the sealed key as records have it. */
  #byDataKey = new WeakMap<Buffer, Map<string, Known>>();
  #count = 0;

  constructor(most = MOST) {
    this.#most = most;
  }

  /**
   * The same as `openObjectKey`.
   *
   * @param sealed base64
   * @param dataKey as the `KeySource` gave it just now
   * @throws DamagedCiphertext
   */
  open(sealed: string, dataKey: Buffer, place: ObjectPlace): OpenedObjectKey {
    const known = this.#byDataKey.get(dataKey)?.get(sealed);
    // A record that was moved opens nothing, here as there.
    if (known !== undefined && isSame(known.place, place)) return known.objectKey;
    const bytes = openObjectKey(Buffer.from(sealed, 'base64'), { origin: 'service', bytes: dataKey }, place);
    const objectKey = new OpenedObjectKey(bytes);
    this.#keep(dataKey, sealed, { place, objectKey });
    return objectKey;
  }

  #keep(dataKey: Buffer, sealed: string, known: Known): void {
    if (this.#count >= this.#most) {
      this.#byDataKey = new WeakMap();
      this.#count = 0;
    }
    let opened = this.#byDataKey.get(dataKey);
    if (opened === undefined) {
      opened = new Map();
      this.#byDataKey.set(dataKey, opened);
    }
    opened.set(sealed, known);
    this.#count += 1;
  }
}

function isSame(a: ObjectPlace, b: ObjectPlace): boolean {
  return a.id === b.id && a.key === b.key && a.bucket === b.bucket;
}

/** A fresh key for a new object or upload, and what its record keeps of it. Throws `KeySourceError`. */
export async function makeObjectKey(
  environment: Pick<Environment, 'keys' | 'random'>,
  chosen: ChosenEncryption,
  place: ObjectPlace,
): Promise<{ readonly objectKey: Buffer; readonly sealed: SealedKeys }> {
  const { random } = environment;
  const objectKey = newObjectKey(random);
  if (chosen.scheme !== 'SSE-C') return { objectKey, sealed: await sealUnder(environment, chosen, place, objectKey) };
  const sealed = chosen.customerKey.seal(objectKey, place, random).toString('base64');
  return { objectKey, sealed: { scheme: 'SSE-C', objectKey: sealed } };
}

/** Seals the key of an object, new or not, under a data key. Throws `KeySourceError`. */
export async function sealUnder(
  { keys, random }: Pick<Environment, 'keys' | 'random'>,
  chosen: Exclude<ChosenEncryption, { scheme: 'SSE-C' }>,
  place: ObjectPlace,
  objectKey: Buffer,
): Promise<ServiceSealedKeys> {
  const { scheme, context, bucketKey } = chosen;
  const { plaintext, sealed } = await keys.generate(chosen.keyName, dataKeyContext(place.bucket, context));
  const { keyName, keyVersion, ciphertext } = sealed;
  const outer = { origin: 'service', bytes: plaintext } as const;
  return {
    scheme,
    keyName,
    ...(keyVersion === undefined ? {} : { keyVersion }),
    dataKey: ciphertext,
    objectKey: sealObjectKey(objectKey, outer, place, random).toString('base64'),
    ...(context && { context }),
    ...(bucketKey !== undefined && { bucketKey }),
  };
}

/** Of this thread. */
const opened = new OpenedObjectKeys();

/**
 * The key again, at once where it was opened before. Fails with `KeySourceError`, `DamagedCiphertext` when the record was put together
 * from others, and an `S3Error` where the client's key is needed and not the one given.
 */
export function recoverObjectKey(
  environment: Pick<Environment, 'keys'>,
  sealed: SealedKeys,
  place: ObjectPlace,
  customerKey?: CustomerKey,
): OpenedObjectKey | Promise<OpenedObjectKey> {
  if (sealed.scheme === 'SSE-C') return new OpenedObjectKey(openCustomerSealed(sealed, place, customerKey));
  const { keyName, keyVersion, dataKey: ciphertext, objectKey, context } = sealed;
  const dataKey = environment.keys.unseal({ keyName, keyVersion, ciphertext }, dataKeyContext(place.bucket, context));
  if (dataKey instanceof Promise) return dataKey.then((bytes) => opened.open(objectKey, bytes, place));
  return opened.open(objectKey, dataKey, place);
}
