import { foreignVersionId } from '../../objects/records/object-record.ts';
import { orderOfPart, recordKeys, type VersionOrder } from '../../objects/records/record-format.ts';
import { after as afterKey, decodeKey, key as makeKey, prefixOf, within } from '../../store/keys.ts';
import type { Entry, Key, RecordStore } from '../../store/record-store.ts';
import type { VersionPlace } from '../../objects/records/version-place.ts';

/** The place of a version: that of the current one, or with an order that of a noncurrent one. */
export interface Place extends VersionPlace {
  /** The id of a version from elsewhere. That of any other version follows from its order. */
  readonly versionId?: string | undefined;
}

/** All records of one version. Where some of them are missing, the version is damaged or changes at the moment. */
export interface ObjectRecords extends Place {
  /** The record of the version: under `o`, or under `v` for a noncurrent one. */
  readonly object: Entry | undefined;
  readonly inline: Entry | undefined;
  readonly manifest: Entry | undefined;
  /** The record under `l`. Read for the current version alone. */
  readonly marker: Entry | undefined;
  /** For a noncurrent version: the record of the current one, under `o` or `l`. */
  readonly current: Entry | undefined;
  /** True where the key has noncurrent versions, and neither a current object nor a current delete marker. */
  readonly headless: boolean;
}

/**
 * Yields the records of all versions in the order of buckets, keys, and orders: of each key the current version comes first. Five
 * concurrent scans read each record once. Records that change meanwhile may not fit together; `readObjectRecords` reads those of one
 * moment. A version that moves between the tables while they are read may come twice, or not at all.
 */
export async function* allObjectRecords(
  records: RecordStore,
  { after, inline = true }: { readonly after?: Place | undefined; readonly inline?: boolean } = {},
): AsyncGenerator<ObjectRecords> {
  const inlineEnd = inline ? {} : { end: within('i').start };
  const [objects, markers, noncurrent, inlines, manifests] = [
    new Scan(records, 'o', after),
    new Scan(records, 'l', after),
    new Scan(records, 'v', after),
    // Inline bodies are most of the bytes: a caller that does not need them skips them.
    new Scan(records, 'i', after, inlineEnd),
    new Scan(records, 'm', after),
  ] as const;
  const scans = [objects, markers, noncurrent, inlines, manifests];
  let last = await currentAt(records, after);
  try {
    for (;;) {
      const heads = await Promise.all(scans.map((scan) => scan.head()));
      const first = heads.reduce(earlier, undefined);
      if (first === undefined) return;
      const place = placeOf(first);
      const own = { inline: inlines.take(first), manifest: manifests.take(first) };
      if (place.order === undefined) {
        const [object, marker] = [objects.take(first), markers.take(first)];
        last = { name: first, entry: object ?? marker };
        yield { ...named(place, object), object, ...own, marker, current: undefined, headless: false };
        continue;
      }
      const name = prefixOf(place.bucket, place.key);
      const object = noncurrent.take(first);
      if (object !== undefined && (last === undefined || !last.name.equals(name) || last.entry === undefined)) {
        if (last?.headless !== true || !last.name.equals(name)) yield headless(place);
        last = { name, entry: undefined, headless: true };
      }
      const current = last?.name.equals(name) === true ? last.entry : undefined;
      yield { ...named(place, object), object, ...own, marker: undefined, current, headless: false };
    }
  } finally {
    await Promise.all(scans.map((scan) => scan.close()));
  }
}

/** The current version of the key whose records are read. */
interface Current {
  /** The encoded bucket and key. */
  readonly name: Buffer;
  readonly entry: Entry | undefined;
  readonly headless?: true;
}

/** A pass that continues among the versions of a key does not come to its current version. */
async function currentAt(records: RecordStore, after: Place | undefined): Promise<Current | undefined> {
  if (after === undefined) return undefined;
  const { bucket, key } = after;
  const [object, marker] = await records.getAll([recordKeys.object(bucket, key), recordKeys.marker(bucket, key)]);
  return { name: prefixOf(bucket, key), entry: object ?? marker };
}

function headless({ bucket, key }: Place): ObjectRecords {
  const none = { object: undefined, inline: undefined, manifest: undefined, marker: undefined, current: undefined };
  return { bucket, key, ...none, headless: true };
}

/** Adds the id of a version that came from elsewhere. */
export function named(place: Place, entry: Entry | undefined): Place {
  const versionId = entry && foreignVersionId(entry.value);
  return versionId === undefined ? place : { ...place, versionId };
}

/** Decodes the parts of a record key after its table. */
function placeOf(name: Buffer): Place {
  const [bucket, key, order] = decodeKey(name);
  if (bucket === undefined || key === undefined) throw new TypeError(`no object has the key ${name.toString('hex')}`);
  return { bucket: String(bucket), key: String(key), ...(order && { order }) };
}

/** Reads the records of one version at one moment. */
export async function readObjectRecords(records: RecordStore, place: Place): Promise<ObjectRecords> {
  const { bucket, key, order } = place;
  const noncurrent = order === undefined ? [] : [recordKeys.version(bucket, key, order)];
  const [object, marker, inline, manifest, version] = await records.getAll([
    recordKeys.object(bucket, key),
    recordKeys.marker(bucket, key),
    recordKeys.inline(bucket, key, order),
    recordKeys.manifest(bucket, key, order),
    ...noncurrent,
  ]);
  if (order !== undefined) {
    const current = object ?? marker;
    const own = named({ bucket, key, order }, version);
    return { ...own, object: version, inline, manifest, marker: undefined, current, headless: false };
  }
  const alone = object === undefined && marker === undefined && (await hasNoncurrent(records, place));
  return { ...named({ bucket, key }, object), object, inline, manifest, marker, current: undefined, headless: alone };
}

async function hasNoncurrent(records: RecordStore, { bucket, key }: Place): Promise<boolean> {
  for await (const _item of records.scan({ ...within('v', bucket, key), limit: 1 })) return true;
  return false;
}

/** A place as records of progress have it: the order in hexadecimal. */
export interface StoredPlace {
  readonly bucket: string;
  readonly key: string;
  /** Absent for the current version. */
  readonly order?: string;
}

export function storedPlace({ bucket, key, order }: Place): StoredPlace {
  return { bucket, key, ...(order && { order: order.toString('hex') }) };
}

export function placeFrom({ bucket, key, order }: StoredPlace): Place {
  return { bucket, key, ...(order !== undefined && { order: Buffer.from(order, 'hex') }) };
}

/** Names a version for clients: a noncurrent one by its id. */
export function namedPlace({ bucket, key, order, versionId }: Place): {
  readonly bucket: string;
  readonly key: string;
  readonly versionId?: string;
} {
  return { bucket, key, ...(order && { versionId: shownId(order, versionId) }) };
}

function shownId(order: VersionOrder, versionId: string | undefined): string {
  return versionId ?? orderOfPart(order) ?? 'null';
}

/** Names a version in a message. */
export function placeText({ bucket, key, order, versionId }: Place): string {
  return order === undefined ? `${bucket}/${key}` : `version ${shownId(order, versionId)} of ${bucket}/${key}`;
}

/** A scan of one kind of record, by the bucket, the key and the order in its keys. */
class Scan {
  readonly #entries: AsyncIterator<Entry>;
  readonly #kindLength: number;
  #head: Entry | undefined;

  constructor(records: RecordStore, kind: string, after: Place | undefined, bounds: { readonly end?: Buffer } = {}) {
    const range = { ...within(kind), ...bounds };
    this.#kindLength = range.start.length;
    this.#entries = entries(records, { ...range, start: after === undefined ? range.start : startAfter(kind, after) });
  }

  /** Resolves to the name of the next record; undefined after the last. */
  async head(): Promise<Buffer | undefined> {
    this.#head ??= (await this.#entries.next()).value as Entry | undefined;
    return this.#head && this.#name(this.#head);
  }

  take(name: Buffer): Entry | undefined {
    const entry = this.#head;
    if (entry === undefined || !this.#name(entry).equals(name)) return undefined;
    this.#head = undefined;
    return entry;
  }

  async close(): Promise<void> {
    await this.#entries.return?.();
  }

  #name(entry: Entry): Buffer {
    return entry.key.subarray(this.#kindLength);
  }
}

/** Returns where the records of a table begin that follow a place. */
function startAfter(table: string, { bucket, key, order }: Place): Key {
  return afterKey(order === undefined ? makeKey(table, bucket, key) : makeKey(table, bucket, key, order));
}

/** Yields the entries of a scan that does not collapse. */
export async function* entries(
  records: RecordStore,
  range: { readonly start: Buffer; readonly end: Buffer },
): AsyncGenerator<Entry> {
  for await (const item of records.scan(range)) if (item.kind === 'entry') yield item;
}

function earlier(first: Buffer | undefined, other: Buffer | undefined): Buffer | undefined {
  if (first === undefined || other === undefined) return first ?? other;
  return first.compare(other) <= 0 ? first : other;
}
