import { type BlobId, isBlobId } from '../../store/blob-store.ts';
import { decodeRecord, recordKeys } from '../../objects/records/record-format.ts';
import type { PartRecord } from '../../objects/records/upload-record.ts';
import { within, after, decodeKey } from '../../store/keys.ts';
import type { Key, RecordStore, Revision } from '../../store/record-store.ts';
import type { BlobOwner } from '../../objects/contract/objects.ts';
import { isReadable } from './orphan-blobs.ts';
import { allObjectRecords, entries, type ObjectRecords, readObjectRecords } from './object-records.ts';
import { type ObjectPlan, planObject } from './plan-object.ts';
import type { VerifyContext } from './check-object.ts';
import { type Issue, shownKey } from './issue.ts';
import { isUnreadable } from '../../objects/records/damage.ts';

const ID_BYTES = 16;

/** Ids for which a window has memory at first. */
const FIRST_IDS = 1_024;

/** Blob ids in ascending order, 16 bytes each, with a bit for each that was seen. A million takes 16 MiB; its memory grows with its ids. */
export class BlobWindow {
  #ids: Buffer;
  #seen: Uint8Array;
  readonly #capacity: number;
  #count = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
    const ids = Math.min(capacity, FIRST_IDS);
    this.#ids = Buffer.alloc(ids * ID_BYTES);
    this.#seen = new Uint8Array(Math.ceil(ids / 8));
  }

  get size(): number {
    return this.#count;
  }

  get full(): boolean {
    return this.#count === this.#capacity;
  }

  clear(): void {
    this.#count = 0;
    this.#seen.fill(0);
  }

  /** The caller adds ids in ascending order. */
  add(id: BlobId): void {
    if ((this.#count + 1) * ID_BYTES > this.#ids.length) this.#grow();
    this.#ids.write(id, this.#count * ID_BYTES, 'hex');
    this.#count += 1;
  }

  #grow(): void {
    const ids = Math.min(this.#capacity, (this.#ids.length / ID_BYTES) * 2);
    const bytes = Buffer.alloc(ids * ID_BYTES);
    this.#ids.copy(bytes);
    this.#ids = bytes;
    const seen = new Uint8Array(Math.ceil(ids / 8));
    seen.set(this.#seen);
    this.#seen = seen;
  }

  see(id: BlobId): void {
    const wanted = Buffer.from(id, 'hex');
    // A damaged record may have something else than an id: no blob has such an id, and comparing it would throw.
    if (wanted.length !== ID_BYTES) return;
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = this.#ids.compare(wanted, 0, ID_BYTES, middle * ID_BYTES, (middle + 1) * ID_BYTES);
      if (order === 0) {
        this.#seen[middle >>> 3] = (this.#seen[middle >>> 3] ?? 0) | (1 << (middle & 7));
        return;
      }
      if (order < 0) low = middle + 1;
      else high = middle;
    }
  }

  *unseen(): Generator<BlobId> {
    for (let index = 0; index < this.#count; index += 1) {
      if (((this.#seen[index >>> 3] ?? 0) & (1 << (index & 7))) !== 0) continue;
      yield this.#ids.toString('hex', index * ID_BYTES, (index + 1) * ID_BYTES) as BlobId;
    }
  }
}

/** Yields every blob that an object or a part refers to. A record that cannot be read refers to nothing here: other checks report it. */
export async function* referredBlobs(records: RecordStore, signal: AbortSignal | undefined): AsyncGenerator<BlobId> {
  // Parts come before objects: an upload that completes meanwhile is found in one of them.
  for await (const { value } of entries(records, within('p'))) {
    signal?.throwIfAborted();
    const blob = partBlob(value);
    if (blob !== undefined) yield blob;
  }
  for await (const object of allObjectRecords(records, { inline: false })) {
    signal?.throwIfAborted();
    const { streams } = await consistentPlan(records, object);
    for (const stream of streams) if (stream.kind === 'blob') yield stream.blob;
  }
}

/** The scan may have read the manifest of another object. */
async function consistentPlan(records: RecordStore, object: ObjectRecords): Promise<ObjectPlan> {
  const plan = planObject(object);
  return plan.record?.body.kind === 'parts' && plan.streams.length === 0
    ? planObject(await readObjectRecords(records, object))
    : plan;
}

function partBlob(value: Buffer): BlobId | undefined {
  try {
    const { blob } = decodeRecord(value, 'a part') as PartRecord;
    return isBlobId(blob) ? blob : undefined;
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

/** Owner records that one pass over all objects checks: 16 MiB. */
const WINDOW = 1_000_000;

/**
 * Yields owner records of blobs that nothing refers to: they keep their blobs for ever. An owner record does not name its object, so
 * that a window of them is compared with all objects at once.
 */
export async function* unreferencedOwners(check: VerifyContext, size = WINDOW): AsyncGenerator<Issue> {
  const { records, signal } = check;
  const range = within('r');
  const window = new BlobWindow(size);
  let { start } = range;
  for (;;) {
    window.clear();
    for await (const { key } of entries(records, { ...range, start })) {
      signal?.throwIfAborted();
      const id = String(decodeKey(key)[1]);
      start = after(key);
      if (!isBlobId(id)) yield { kind: 'stray-record', record: shownKey(key), message: 'this record owns no blob' };
      else window.add(id);
      if (window.full) break;
    }
    if (window.size === 0) return;
    const full = window.full;
    yield* unreferencedIn(check, window);
    if (!full) return;
  }
}

async function* unreferencedIn(check: VerifyContext, window: BlobWindow): AsyncGenerator<Issue> {
  const { records, signal } = check;
  for await (const blob of referredBlobs(records, signal)) window.see(blob);
  // Suspects are rare. A second pass excludes those of objects that came or moved during the first.
  const suspects = new Map<BlobId, Revision>();
  for (const blob of window.unseen()) {
    const owner = await records.get(recordKeys.owner(blob));
    if (owner !== undefined) suspects.set(blob, owner.revision);
    if (suspects.size === 10_000) yield* confirmed(check, suspects);
  }
  if (suspects.size > 0) yield* confirmed(check, suspects);
}

async function* confirmed(
  { records, blobs, signal }: VerifyContext,
  suspects: Map<BlobId, Revision>,
): AsyncGenerator<Issue> {
  for await (const blob of referredBlobs(records, signal)) suspects.delete(blob);
  for (const [blob, revision] of suspects) {
    const owner = recordKeys.owner(blob);
    const found = await records.get(owner);
    if (found?.revision !== revision) continue;
    yield (await isReadable(blobs, blob))
      ? lostObject(owner, blob, found.value)
      : {
          kind: 'stray-record',
          record: shownKey(owner),
          message: `the record keeps blob ${blob}, which does not exist, and no object or part refers to it`,
        };
  }
  suspects.clear();
}

/** A commit that deletes an object deletes the owner record of its body too. */
function lostObject(owner: Key, blob: BlobId, value: Buffer): Issue {
  const place = ownerPlace(value);
  const of = place.bucket === undefined ? 'an object or a part' : `${place.bucket}/${place.key}`;
  return {
    kind: 'lost-object',
    record: shownKey(owner),
    ...place,
    blob,
    message: `blob ${blob} is the body of ${of}, whose record is lost`,
  };
}

/** The owner record of a packed body names its object. */
function ownerPlace(value: Buffer): { readonly bucket?: string; readonly key?: string } {
  try {
    const { bucket, key } = decodeRecord(value, 'an owner') as Partial<BlobOwner>;
    return typeof bucket === 'string' && typeof key === 'string' ? { bucket, key } : {};
  } catch (error) {
    if (isUnreadable(error)) return {};
    throw error;
  }
}
