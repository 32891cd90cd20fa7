import { type ObjectPlace, openObjectKey } from '../encryption/object-key.ts';

/** Keys of all data keys together, some 350 bytes each. */
const MOST = 8_192;

/**
 * The object keys that a thread opened last. Each hangs on the data key that opened it, and is found only by who has that very buffer: a
 * data key that is dropped from its cache takes with it what it opened, so that nothing outlives the five minutes of
 * `unsealedKeyLimits`. Keys of clients are never here.
 */
export class OpenedObjectKeys {
  readonly #most: number;
  #byDataKey = new WeakMap<Buffer, Map<string, string>>();
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
  open(sealed: string, dataKey: Buffer, place: ObjectPlace): Buffer {
    // What the key is bound to is part of the name: a record that was moved opens nothing, here as there.
    const name = JSON.stringify([sealed, place.id, place.bucket, place.key]);
    const known = this.#byDataKey.get(dataKey)?.get(name);
    if (known !== undefined) return Buffer.from(known, 'latin1');
    const objectKey = openObjectKey(Buffer.from(sealed, 'base64'), { origin: 'service', bytes: dataKey }, place);
    this.#keep(dataKey, name, objectKey.toString('latin1'));
    return objectKey;
  }

  #keep(dataKey: Buffer, name: string, objectKey: string): void {
    if (this.#count >= this.#most) {
      this.#byDataKey = new WeakMap();
      this.#count = 0;
    }
    let opened = this.#byDataKey.get(dataKey);
    if (opened === undefined) {
      opened = new Map();
      this.#byDataKey.set(dataKey, opened);
    }
    opened.set(name, objectKey);
    this.#count += 1;
  }
}
