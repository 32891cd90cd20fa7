import { decodeKey, key as makeKey, within } from '../../store/keys.ts';
import type { Entry, RecordStore } from '../../store/record-store.ts';
import { recordKeys } from '../../objects/records/record-format.ts';

/** All records of one object. Where some of them are missing, the object is damaged or changes at the moment. */
export interface ObjectRecords {
  readonly bucket: string;
  readonly key: string;
  readonly object: Entry | undefined;
  readonly inline: Entry | undefined;
  readonly manifest: Entry | undefined;
}

/**
 * Yields the records of all objects in the order of buckets and keys. Three concurrent scans read each record once. Records that change
 * meanwhile may not fit together; `readObjectRecords` reads those of one moment.
 */
export async function* allObjectRecords(
  records: RecordStore,
  { after, inline = true }: { readonly after?: Place | undefined; readonly inline?: boolean } = {},
): AsyncGenerator<ObjectRecords> {
  const inlineEnd = inline ? {} : { end: within('i').start };
  const scans = [
    new Scan(records, 'o', after),
    // Inline bodies are most of the bytes: a caller that does not need them skips them.
    new Scan(records, 'i', after, inlineEnd),
    new Scan(records, 'm', after),
  ];
  const [objects, inlines, manifests] = scans as [Scan, Scan, Scan];
  try {
    for (;;) {
      const heads = await Promise.all(scans.map((scan) => scan.head()));
      const first = heads.reduce(earlier, undefined);
      if (first === undefined) return;
      const [bucket, key] = decodeKey(first).map(String);
      if (bucket === undefined || key === undefined)
        throw new TypeError(`no object has the key ${first.toString('hex')}`);
      yield {
        bucket,
        key,
        object: objects.take(first),
        inline: inlines.take(first),
        manifest: manifests.take(first),
      };
    }
  } finally {
    await Promise.all(scans.map((scan) => scan.close()));
  }
}

export interface Place {
  readonly bucket: string;
  readonly key: string;
}

/** Reads the records of one object at one moment. */
export async function readObjectRecords(records: RecordStore, { bucket, key }: Place): Promise<ObjectRecords> {
  const [object, inline, manifest] = await records.getAll([
    recordKeys.object(bucket, key),
    recordKeys.inline(bucket, key),
    recordKeys.manifest(bucket, key),
  ]);
  return { bucket, key, object, inline, manifest };
}

/** A scan of one kind of record, by the object name in its keys. */
class Scan {
  readonly #entries: AsyncIterator<Entry>;
  readonly #kindLength: number;
  #head: Entry | undefined;

  constructor(records: RecordStore, kind: string, after: Place | undefined, bounds: { readonly end?: Buffer } = {}) {
    const range = { ...within(kind), ...bounds };
    this.#kindLength = range.start.length;
    const start =
      after === undefined ? range.start : Buffer.concat([makeKey(kind, after.bucket, after.key), Buffer.of(0)]);
    this.#entries = entries(records, { ...range, start });
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
