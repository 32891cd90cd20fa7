import { type ObjectPlace, openObjectKey } from '../encryption/object-key.ts';
import { OpenedObjectKey } from '../encryption/opened-object-key.ts';

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
