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
import type { ObjectContext } from '../context/context.ts';
import type { SealedKeys, ServiceSealedKeys } from '../records/object-record.ts';

/** The maximum of cached keys of all data keys together, some 600 bytes each. */
const MAX_KEYS = 8_192;

interface Known {
  /** The object that the key is bound to. */
  readonly place: ObjectPlace;
  readonly objectKey: OpenedObjectKey;
}

/**
 * A cache of the object keys that a thread opened last. An entry belongs to the buffer of the data key that opened it, and is found
 * only with that very buffer: an evicted data key takes its entries with it, so that no entry outlives the five minutes of
 * `unsealedKeyLimits`. Keys of clients are never cached.
 */
export class OpenedObjectKeys {
  readonly #max: number;
  /** By data key, then by sealed key as records have it. */
  #byDataKey = new WeakMap<Buffer, Map<string, Known>>();
  #count = 0;

  constructor(max = MAX_KEYS) {
    this.#max = max;
  }

  /**
   * Opens a sealed key as `openObjectKey` does, or returns it from the cache.
   *
   * @param sealed base64
   * @param dataKey the buffer that the `KeySource` returned
   * @throws StoreError
   */
  open(sealed: string, dataKey: Buffer, place: ObjectPlace): OpenedObjectKey {
    const known = this.#byDataKey.get(dataKey)?.get(sealed);
    // A record that was copied to another name must fail, as it does without the cache.
    if (known !== undefined && isSame(known.place, place)) return known.objectKey;
    const bytes = openObjectKey(Buffer.from(sealed, 'base64'), { origin: 'service', bytes: dataKey }, place);
    const objectKey = new OpenedObjectKey(bytes);
    this.#keep(dataKey, sealed, { place, objectKey });
    return objectKey;
  }

  #keep(dataKey: Buffer, sealed: string, known: Known): void {
    if (this.#count >= this.#max) {
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

/** Creates the key of a new object or upload, and its sealed form for the record. Throws `KeyServiceError`. */
export async function makeObjectKey(
  context: Pick<ObjectContext, 'keys' | 'random'>,
  chosen: ChosenEncryption,
  place: ObjectPlace,
): Promise<{ readonly objectKey: Buffer; readonly sealed: SealedKeys }> {
  const { random } = context;
  const objectKey = newObjectKey(random);
  if (chosen.scheme !== 'SSE-C') return { objectKey, sealed: await sealUnder(context, chosen, place, objectKey) };
  const sealed = chosen.customerKey.seal(objectKey, place, random).toString('base64');
  return { objectKey, sealed: { scheme: 'SSE-C', objectKey: sealed } };
}

/** Seals the key of an object under a data key. Throws `KeyServiceError`. */
export async function sealUnder(
  { keys, random }: Pick<ObjectContext, 'keys' | 'random'>,
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

/** One cache for each thread. */
const opened = new OpenedObjectKeys();

/**
 * Opens the key of an object, synchronously where it is cached. Fails with `KeyServiceError`, with `StoreError` with the code `ciphertext-damaged` when the record
 * was assembled from others, and with an `S3Error` where the client's key is missing or wrong.
 */
export function recoverObjectKey(
  context: Pick<ObjectContext, 'keys'>,
  sealed: SealedKeys,
  place: ObjectPlace,
  customerKey?: CustomerKey,
): OpenedObjectKey | Promise<OpenedObjectKey> {
  if (sealed.scheme === 'SSE-C') return new OpenedObjectKey(openCustomerSealed(sealed, place, customerKey));
  const { keyName, keyVersion, dataKey: ciphertext, objectKey } = sealed;
  const dataKey = context.keys.unseal(
    { keyName, keyVersion, ciphertext },
    dataKeyContext(place.bucket, sealed.context),
  );
  if (dataKey instanceof Promise) return dataKey.then((bytes) => opened.open(objectKey, bytes, place));
  return opened.open(objectKey, dataKey, place);
}
