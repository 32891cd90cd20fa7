import { decodePrefix, endOf, escape, partialPrefix, prefixOf, after as afterKey, textAt } from '../../store/keys.ts';
import { type Entry, type ScanItem, type ScanRange, scanPages } from '../../store/record-store.ts';
import { orderMarker, orderOfMarker } from '../../../protocol/s3/names.ts';
import { bucketSeal } from '../encryption/digests.ts';
import type { ObjectContext } from '../context/context.ts';
import type { ListedVersion, ListObjectVersions, VersionListing } from '../contract/object-layer.ts';
import { countsAcls, getBucket } from '../records/bucket-record.ts';
import { decodeObject, type ObjectRecord } from '../records/object-record.ts';
import { decodeListedVersion } from '../records/listed-objects.ts';
import { decodeVersionIndex, recordKeys, versionOrder } from '../records/record-format.ts';
import { isOrder, type Order } from '../records/version-order.ts';
import { SealedEtags } from '../records/sealed-etags.ts';
import { NULL_VERSION, shownVersionId } from '../versions/find-version.ts';
import { orderOf, orderOfKey } from '../records/version-place.ts';

/**
 * Lists the versions and delete markers of a bucket: keys in the order of their UTF-8 bytes, the versions of a key from the newest to the
 * oldest. It merges the tables of current objects, current delete markers and noncurrent versions.
 */
export async function listObjectVersions(context: ObjectContext, request: ListObjectVersions): Promise<VersionListing> {
  const { bucket, limit } = request;
  const { record } = await getBucket(context.records, bucket);
  if (limit <= 0) return { versions: [], commonPrefixes: [] };
  const start = await startOf(context, request);
  const page = new Page({ ...request, owners: request.owners === true && countsAcls(record) }, start);
  const cursors = cursorsOf(context, request, start);
  try {
    while (!page.isFull) {
      for (const cursor of cursors) if (cursor.mustRead) await cursor.fill();
      const cursor = first(cursors);
      if (cursor?.item === undefined) {
        page.end();
        break;
      }
      const { item, place } = cursor;
      page.add(item, place, cursor.table !== 'v');
      cursor.step();
      if (item.kind === 'entry') continue;
      // A group that several tables have comes once.
      for (const other of cursors) if (other.item?.kind === 'group' && other.place.equals(place)) other.step();
    }
  } finally {
    for (const cursor of cursors) await cursor.close();
  }
  const { versions, commonPrefixes, next, sealed } = page;
  if (sealed.count > 0) sealed.open(await bucketSeal(context, bucket), context.clock());
  return { versions, commonPrefixes, ...(next !== undefined && { next }) };
}

const tables = ['o', 'l', 'v'] as const;
type Table = (typeof tables)[number];

/** The start of a listing: the parts of record keys after the table and the bucket. */
interface Start {
  readonly current: Buffer;
  readonly noncurrent: Buffer;
  /** The null version of the marker's key, where it follows the marker. The table has it before the start. */
  readonly nullVersion?: { readonly key: string; readonly value: Buffer };
}

async function startOf(context: ObjectContext, request: ListObjectVersions): Promise<Start> {
  const { prefix, delimiter, keyMarker, versionIdMarker } = request;
  const first = escape(prefix);
  if (keyMarker === '') return { current: first, noncurrent: first };
  const groupEnd = delimiter !== '' && keyMarker.startsWith(prefix) ? keyMarker.indexOf(delimiter, prefix.length) : -1;
  const wholeKey = prefixOf(keyMarker);
  const latest = (start: Buffer) => (start.compare(first) > 0 ? start : first);
  if (versionIdMarker !== undefined && groupEnd < 0 && keyMarker.startsWith(prefix)) {
    const { order, nullVersion, currentFollows } = await afterVersion(context, request, versionIdMarker);
    const noncurrent = latest(Buffer.concat([wholeKey, order]));
    const current = latest(currentFollows ? wholeKey : afterKey(wholeKey));
    return { current, noncurrent, ...(nullVersion && { nullVersion }) };
  }
  const end = groupEnd >= 0 ? endOf(escape(keyMarker.slice(0, groupEnd + delimiter.length))) : endOf(wholeKey);
  return { current: latest(groupEnd >= 0 ? end : afterKey(wholeKey)), noncurrent: latest(end) };
}

/**
 * Returns where the versions of a key begin that are older than one of them: the encoded order, the null version if it follows, and if
 * the current version follows. The current one follows where the client has removed the newer ones since it read the page before.
 */
async function afterVersion(
  context: ObjectContext,
  { bucket, keyMarker }: ListObjectVersions,
  versionId: string,
): Promise<{ readonly order: Buffer; readonly nullVersion?: Start['nullVersion']; readonly currentFollows: boolean }> {
  const [object, marker, nullVersion, indexed] = await context.records.getAll([
    recordKeys.object(bucket, keyMarker),
    recordKeys.marker(bucket, keyMarker),
    recordKeys.version(bucket, keyMarker, versionOrder(undefined)),
    recordKeys.versionIndex(bucket, keyMarker, versionId),
  ]);
  const at = (entry: Entry) => orderOf(decodeObject(entry.value, bucket, keyMarker));
  const current = object ?? marker;
  const marked = markedOrder(versionId, { object, marker, nullVersion, indexed }, (entry) =>
    decodeObject(entry.value, bucket, keyMarker),
  );
  // Without the version, its place is not known: the others are listed again. The order of a version made here is its id.
  if (marked === undefined) return { order: afterKey(prefixOf(versionOrder(undefined))), currentFollows: true };
  const currentFollows = current !== undefined && at(current) < marked;
  const order = afterKey(prefixOf(versionOrder(marked)));
  // Of the same order, the null version is the older one.
  return nullVersion !== undefined && at(nullVersion) <= marked && versionId !== NULL_VERSION
    ? { order, currentFollows, nullVersion: { key: keyMarker, value: nullVersion.value } }
    : { order, currentFollows };
}

/** Returns the order of the version that a page ended with; undefined where nothing says it. */
function markedOrder(
  versionId: string,
  entries: Readonly<Record<'object' | 'marker' | 'nullVersion' | 'indexed', Entry | undefined>>,
  decode: (entry: Entry) => ObjectRecord,
): Order | undefined {
  const { object, marker, nullVersion, indexed } = entries;
  const order = orderOfMarker(versionId);
  if (order !== undefined) return order;
  const index = indexed && decodeVersionIndex(indexed.value, `version ${versionId}`);
  if (index?.versionId === versionId) return index.order;
  for (const entry of [object, marker, nullVersion]) {
    const record = entry && decode(entry);
    if (record !== undefined && shownVersionId(record) === versionId) return orderOf(record);
  }
  return isOrder(versionId) ? versionId : undefined;
}

/** The items of one table, by pages. */
class Cursor {
  readonly table: Table;
  readonly #prefixLength: number;
  readonly #pages: AsyncIterator<readonly ScanItem[]>;
  #page: readonly ScanItem[] = [];
  #at = 0;
  #ended = false;
  #place: Buffer | undefined;

  constructor(context: ObjectContext, table: Table, prefixLength: number, range: ScanRange) {
    this.table = table;
    this.#prefixLength = prefixLength;
    this.#pages = scanPages(context.records, range)[Symbol.asyncIterator]();
  }

  /** The item at the cursor; undefined at the end of the table or of the page. */
  get item(): ScanItem | undefined {
    return this.#page[this.#at];
  }

  /** True at the end of a page that may not be the last. */
  get mustRead(): boolean {
    return !this.#ended && this.#at >= this.#page.length;
  }

  /** Reads pages until one has an item. */
  async fill(): Promise<void> {
    while (this.mustRead) {
      const next = await this.#pages.next();
      if (next.done === true) {
        this.#ended = true;
        return;
      }
      this.#page = next.value;
      this.#at = 0;
      this.#place = undefined;
    }
  }

  step(): void {
    this.#at += 1;
    this.#place = undefined;
  }

  /** The key of the object or the group, encoded: the same bytes in each table. */
  get place(): Buffer {
    // The merge asks for it again with each item of the other tables.
    return (this.#place ??= this.#findPlace());
  }

  #findPlace(): Buffer {
    const { item } = this;
    if (item === undefined) return Buffer.alloc(0);
    if (item.kind === 'group') return item.prefix.subarray(this.#prefixLength);
    const rest = item.key.subarray(this.#prefixLength);
    return this.table === 'v' ? rest.subarray(0, endOfPart(rest)) : rest;
  }

  async close(): Promise<void> {
    await this.#pages.return?.();
  }
}

function cursorsOf(context: ObjectContext, request: ListObjectVersions, start: Start): readonly Cursor[] {
  const { bucket, prefix, delimiter, limit } = request;
  return tables.map((table) => {
    const head = prefixOf(table, bucket);
    const whole = partialPrefix(table, bucket, prefix);
    const end = endOf(whole);
    const from = Buffer.concat([head, table === 'v' ? start.noncurrent : start.current]);
    const collapse = delimiter === '' ? {} : { collapse: { prefix: whole, delimiter: escape(delimiter) } };
    // A null version that waits for its place needs one item more.
    return new Cursor(context, table, head.length, {
      start: from.compare(end) < 0 ? from : end,
      end,
      limit: limit + 2,
      ...collapse,
    });
  });
}

/** Returns the end of the first part of an encoded key, with its terminator. */
function endOfPart(bytes: Buffer): number {
  let at = bytes.indexOf(0);
  while (at >= 0 && bytes[at + 1] !== 0xfe) at = bytes.indexOf(0, at + 2);
  return at + 2;
}

/** One page of the listing, which gets the items of all tables in the order of their keys. A page of 1,000 has no promise for each item. */
class Page {
  readonly versions: ListedVersion[] = [];
  readonly commonPrefixes: string[] = [];
  readonly sealed = new SealedEtags();
  readonly #request: ListObjectVersions;
  /** The null version of a key, which the table has before the others: it waits for its place of time. */
  #waiting: { readonly place: Buffer; readonly version: ListedVersion; readonly order: Order } | undefined;
  #last: ListedVersion | string | undefined;
  #isFull = false;

  constructor(request: ListObjectVersions, { nullVersion }: Start) {
    this.#request = request;
    if (nullVersion === undefined) return;
    const { key, value } = nullVersion;
    const version = this.#decode(value, key, false);
    this.#waiting = { place: prefixOf(key), version, order: this.#orderOf(value, key) };
  }

  /** True when an item came that the page has no room for. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** The last item, after which the next page goes on, if this one is full. */
  get next(): VersionListing['next'] {
    const last = this.#last;
    if (!this.#isFull || last === undefined) return undefined;
    if (typeof last === 'string') return { key: last };
    // The page goes on also where the version is removed meanwhile: the order of an id from elsewhere is then known no more.
    const { key, versionId, order } = last;
    return {
      key,
      versionId: versionId === NULL_VERSION ? versionId : order === undefined ? versionId : orderMarker(order),
    };
  }

  /** Takes the next item in the order of the keys. `place` is the encoded key of the object or the group. */
  add(item: ScanItem, place: Buffer, isLatest: boolean): void {
    if (this.#waiting?.place.equals(place) === false) this.end();
    if (item.kind === 'group') {
      this.#push(String(decodePrefix(item.prefix)[2]));
      return;
    }
    const version = this.#decode(item.value, textAt(place, 0), isLatest);
    if (!isLatest && version.versionId === NULL_VERSION) {
      this.#waiting = { place: Buffer.from(place), version, order: this.#orderOf(item.value, version.key) };
      return;
    }
    const before = isLatest ? undefined : this.#waiting?.order;
    if (before !== undefined && before > (orderOfKey(item.key) ?? '')) this.end();
    this.#push(version);
  }

  /** Adds the null version that waits: no older version of its key comes before it. */
  end(): void {
    if (this.#waiting !== undefined) this.#push(this.#waiting.version);
    this.#waiting = undefined;
  }

  #push(item: ListedVersion | string): void {
    if (this.versions.length + this.commonPrefixes.length >= this.#request.limit) {
      this.#isFull = true;
      return;
    }
    this.#last = item;
    if (typeof item === 'string') this.commonPrefixes.push(item);
    else this.versions.push(item);
  }

  #orderOf(value: Buffer, key: string): Order {
    return orderOf(decodeObject(value, this.#request.bucket, key));
  }

  #decode(value: Buffer, key: string, isLatest: boolean): ListedVersion {
    const { bucket, details, owners, replication } = this.#request;
    return decodeListedVersion(value, { bucket, key, isLatest, details, owners, replication }, this.sealed);
  }
}

/** Returns the cursor with the first key; of equal keys that of the current version. */
function first(cursors: readonly Cursor[]): Cursor | undefined {
  let best: Cursor | undefined;
  for (const cursor of cursors) {
    if (cursor.item !== undefined && (best === undefined || cursor.place.compare(best.place) < 0)) best = cursor;
  }
  return best;
}
