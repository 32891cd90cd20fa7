import { readSealedJson } from '../encryption/sealed-json.ts';
import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { sealedKey, type SealedRecordStore, sealedWithin } from '../encryption/sealed-records.ts';
import { commitOnce } from '../store/commits.ts';
import { bucketOfSetting, itemId, type ItemKey, type ItemKind, itemKinds } from './site-items.ts';

/** The last change of an item, on whichever site it was made. */
export interface LedgerEntry extends ItemKey {
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
  /** Absent for an item that was removed. */
  readonly digest?: string | undefined;
}

export type Ledger = ReadonlyMap<string, LedgerEntry>;

/** An item as it is on this site. */
export interface LiveItem extends ItemKey {
  readonly digest: string;
  readonly updatedAt?: number;
}

/** The form in which sites send each other their ledgers. */
export const ledgerRow = z.tuple([z.enum(itemKinds), z.string().max(2_048), z.int(), z.string().max(64).nullable()]);

export function toRow({ kind, name, updatedAt, digest }: LedgerEntry): z.infer<typeof ledgerRow> {
  return [kind, name, updatedAt, digest ?? null];
}

export function fromRow([kind, name, updatedAt, digest]: z.infer<typeof ledgerRow>): LedgerEntry {
  return { kind, name, updatedAt, digest: digest ?? undefined };
}

/** Reports whether a change wins over another one: the later does, and of two at the same time the one with the greater digest. */
export function isNewer(a: LedgerEntry, b: LedgerEntry | undefined): boolean {
  if (b === undefined) return true;
  if (a.updatedAt !== b.updatedAt) return a.updatedAt > b.updatedAt;
  return (a.digest ?? '') > (b.digest ?? '');
}

/** The entries to write into a ledger, and the settings of removed buckets that leave it. */
interface LedgerChange {
  readonly put: readonly LedgerEntry[];
  readonly drop: readonly ItemKey[];
}

interface ObserveOptions {
  readonly kinds: ReadonlySet<ItemKind>;
  readonly now: number;
  /** Buckets of which nothing is known now. */
  readonly unreadable?: ReadonlySet<string>;
}

/**
 * Finds what was changed on this site since its ledger was written. The settings of a bucket that was removed leave the ledger: a bucket
 * that comes back from another site brings its own.
 */
export function observe(
  ledger: Ledger,
  live: ReadonlyMap<string, LiveItem>,
  { kinds, now, unreadable = new Set() }: ObserveOptions,
): LedgerChange {
  const put: LedgerEntry[] = [];
  const drop: ItemKey[] = [];
  for (const [id, item] of live) {
    const known = ledger.get(id);
    if (known?.digest === item.digest) continue;
    const { kind, name, digest } = item;
    const time = item.updatedAt ?? now;
    put.push({ kind, name, digest, updatedAt: known === undefined ? time : Math.max(time, known.updatedAt + 1) });
  }
  for (const [id, entry] of ledger) {
    if (!kinds.has(entry.kind) || live.has(id)) continue;
    const { kind, name } = entry;
    if (kind.startsWith('bucket') && unreadable.has(name)) continue;
    if (isForgotten(entry, now)) {
      drop.push({ kind, name });
      continue;
    }
    const bucket = bucketOfSetting(entry);
    if (bucket !== undefined && !live.has(itemId({ kind: 'bucket', name: bucket }))) drop.push({ kind, name });
    else if (entry.digest !== undefined)
      put.push({ kind, name, updatedAt: Math.max(now, entry.updatedAt + 1), digest: undefined });
  }
  return { put, drop };
}

/** Milliseconds for which removals are remembered. A site that was away for longer would bring back what others have removed. */
export const removalsKeptMs = 90 * 24 * 3_600_000;

function isForgotten({ digest, updatedAt }: LedgerEntry, now: number): boolean {
  return digest === undefined && updatedAt < now - removalsKeptMs;
}

const rank: Readonly<Record<string, number>> = Object.fromEntries(itemKinds.map((kind, at) => [kind, at]));

/**
 * Returns what another site changed later than this one, in the order in which it can be applied: first what is there, from the policies
 * to the settings of buckets, then the removals, in the reverse order.
 */
export function wanted(
  ledger: Ledger,
  theirs: Iterable<LedgerEntry>,
  { kinds, now }: Pick<ObserveOptions, 'kinds' | 'now'>,
): readonly LedgerEntry[] {
  const newer = [...theirs].filter(
    (entry) => kinds.has(entry.kind) && !isForgotten(entry, now) && isNewer(entry, ledger.get(itemId(entry))),
  );
  const of = ({ kind }: LedgerEntry) => rank[kind] ?? 0;
  return [
    ...newer.filter(({ digest }) => digest !== undefined).toSorted((a, b) => of(a) - of(b)),
    ...newer.filter(({ digest }) => digest === undefined).toSorted((a, b) => of(b) - of(a)),
  ];
}

const table = 'site-replication-item';
const digestKey = sealedKey('site-replication', 'digest');

const storedEntry = z.object({
  kind: z.enum(itemKinds),
  name: z.string(),
  updatedAt: z.number(),
  digest: z.string().optional(),
});

/** Entries of one commit. */
const batchSize = 200;

/** The ledger of this site, in its records. The lease holder writes it; every thread reads it. */
export class SiteLedger {
  readonly #records: SealedRecordStore;

  constructor(records: SealedRecordStore) {
    this.#records = records;
  }

  async read(): Promise<Map<string, LedgerEntry>> {
    const entries = new Map<string, LedgerEntry>();
    for await (const stored of this.#records.scan(sealedWithin(table))) {
      const entry = readSealedJson(storedEntry, stored);
      entries.set(itemId(entry), entry);
    }
    return entries;
  }

  async entry({ kind, name }: ItemKey): Promise<LedgerEntry | undefined> {
    const found = await this.#records.get(sealedKey(table, kind, name));
    return found && readSealedJson(storedEntry, found);
  }

  /**
   * Writes changes, and the digest of the whole ledger, which `after` is, with the last of them: other sites look at the digest alone, so
   * that a change without it would stay here.
   */
  async write(change: LedgerChange, after: Ledger): Promise<void> {
    const changes = [
      ...change.put.map((entry) => ({
        key: sealedKey(table, entry.kind, entry.name),
        value: Buffer.from(JSON.stringify(entry)),
      })),
      ...change.drop.map(({ kind, name }) => ({ key: sealedKey(table, kind, name), value: undefined })),
    ];
    const digest = { key: digestKey, value: Buffer.from(ledgerDigest(after)) };
    for (let at = 0; at < changes.length; at += batchSize) {
      const batch = changes.slice(at, at + batchSize);
      const put = batch.flatMap(({ key, value }) => (value === undefined ? [] : [{ key, value }]));
      const removed = batch.flatMap(({ key, value }) => (value === undefined ? [key] : []));
      const isLast = at + batchSize >= changes.length;
      await commitOnce(this.#records, { put: isLast ? [...put, digest] : put, delete: removed }, randomBytes);
    }
  }

  /** The digest of the whole ledger, by which others see that something changed. */
  async digest(): Promise<string> {
    return (await this.#records.get(digestKey))?.value.toString() ?? '';
  }

  async clear(): Promise<void> {
    const keys = [];
    for await (const { key } of this.#records.scan(sealedWithin(table))) keys.push(key);
    for (let at = 0; at < keys.length; at += batchSize) {
      await commitOnce(this.#records, { delete: keys.slice(at, at + batchSize) }, randomBytes);
    }
    await this.#records.delete(digestKey);
  }
}

function ledgerDigest(ledger: Ledger): string {
  const rows = [...ledger.values()].map((entry) => JSON.stringify(toRow(entry))).toSorted();
  return createHash('sha256').update(rows.join('\n')).digest('hex');
}
