import { readSealedJson } from '../encryption/sealed-json.ts';
import { sealedKey, type SealedRecordStore } from '../encryption/sealed-records.ts';
import type { Key } from '../store/record-store.ts';
import { z } from 'zod';

/**
 * The external users whose access was revoked, until the provider reports them as active. A status from the cache does not count for them.
 */
export interface Revocations {
  add(parent: string): Promise<void>;
  remove(parent: string): Promise<void>;
  has(parent: string): Promise<boolean>;
}

export function createRevocations(records: Pick<SealedRecordStore, 'put' | 'delete' | 'revision'>): Revocations {
  return {
    async add(parent) {
      await records.put(key(parent), Buffer.from('{}'));
    },
    async remove(parent) {
      await records.delete(key(parent));
    },
    has: async (parent) => (await records.revision(key(parent))) !== undefined,
  };
}

function key(parent: string): Key {
  return sealedKey('idp', 'cut-off', parent);
}

const countsSchema = z.object({
  format: z.literal(1),
  /** Users checked at intervals and on request. */
  checked: z.number(),
  /** Users whose access was revoked. */
  cutOff: z.number(),
  /** Checks that a provider could not answer. */
  unreachable: z.number(),
  /** Milliseconds since 1970: the end of the last check of all users. */
  lastRound: z.number().optional(),
});

/** The sums of all threads and servers. */
type CheckCounts = Omit<z.infer<typeof countsSchema>, 'format'>;

export interface CheckCounter {
  /**
   * Adds to the counts. The thread writes them once per second, so that an outage does not cause a write per request; counts of a thread
   * that ends before are lost.
   */
  add(more: { checked?: number; cutOff?: number; unreachable?: number; round?: boolean }): void;
  flush(): Promise<void>;
}

const countsKey = sealedKey('idp', 'check-tally');
const attempts = 10;
const flushAfterMs = 1_000;

export function createCheckCounter(records: SealedRecordStore, clock: () => Date): CheckCounter {
  let pending = { checked: 0, cutOff: 0, unreachable: 0, round: false };
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const more = pending;
    pending = { checked: 0, cutOff: 0, unreachable: 0, round: false };
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const entry = await records.get(countsKey);
      const known = entry === undefined ? none : readSealedJson(countsSchema, entry);
      const lastRound = more.round ? clock().getTime() : known.lastRound;
      const value = {
        format: 1,
        checked: known.checked + more.checked,
        cutOff: known.cutOff + more.cutOff,
        unreachable: known.unreachable + more.unreachable,
        ...(lastRound === undefined ? {} : { lastRound }),
      };
      const expectation =
        entry === undefined ? { kind: 'absent' as const } : { kind: 'revision' as const, revision: entry.revision };
      if ((await records.put(countsKey, Buffer.from(JSON.stringify(value)), expectation)) === 'committed') return;
    }
  }

  return {
    add({ checked = 0, cutOff = 0, unreachable = 0, round = false }) {
      pending = {
        checked: pending.checked + checked,
        cutOff: pending.cutOff + cutOff,
        unreachable: pending.unreachable + unreachable,
        round: pending.round || round,
      };
      // The counts are for dashboards, which need the store too.
      timer ??= setTimeout(() => void flush().catch(() => undefined), flushAfterMs).unref();
    },
    flush,
  };
}

const none: z.infer<typeof countsSchema> = { format: 1, checked: 0, cutOff: 0, unreachable: 0 };

/** Reads the counts for metrics; undefined before the first check. */
export async function readCheckCounts(records: Pick<SealedRecordStore, 'get'>): Promise<CheckCounts | undefined> {
  const entry = await records.get(countsKey);
  return entry === undefined ? undefined : readSealedJson(countsSchema, entry);
}
