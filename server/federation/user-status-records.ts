import { sealedKey, type SealedRecordStore } from '../encryption/sealed-records.ts';
import type { Key } from '../store/record-store.ts';
import { z } from 'zod';

/** Who was found disabled or gone, until the provider says that they are back: what was seen a few seconds before counts no more. */
export interface CutOffs {
  mark(parent: string): Promise<void>;
  lift(parent: string): Promise<void>;
  has(parent: string): Promise<boolean>;
}

export function createCutOffs(records: Pick<SealedRecordStore, 'put' | 'delete' | 'revision'>): CutOffs {
  return {
    async mark(parent) {
      await records.put(key(parent), Buffer.from('{}'));
    },
    async lift(parent) {
      await records.delete(key(parent));
    },
    has: async (parent) => (await records.revision(key(parent))) !== undefined,
  };
}

function key(parent: string): Key {
  return sealedKey('idp', 'cut-off', parent);
}

const tallySchema = z.object({
  format: z.literal(1),
  /** People asked about in rounds and on demand. */
  checked: z.number(),
  /** People whose access was ended. */
  cutOff: z.number(),
  /** Times that a provider could not tell. */
  unreachable: z.number(),
  /** When everyone was asked about last; milliseconds since 1970. */
  lastRound: z.number().optional(),
});

/** What all threads and servers counted together. */
type Tally = Omit<z.infer<typeof tallySchema>, 'format'>;

export interface CheckTally {
  /** Kept by this thread for a second, so that an outage does not write a record for each request; lost if it ends before. */
  add(more: { checked?: number; cutOff?: number; unreachable?: number; round?: boolean }): void;
  flush(): Promise<void>;
}

const tallyKey = sealedKey('idp', 'check-tally');
const attempts = 10;
const flushAfterMs = 1_000;

export function createCheckTally(records: SealedRecordStore, clock: () => Date): CheckTally {
  let pending = { checked: 0, cutOff: 0, unreachable: 0, round: false };
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const more = pending;
    pending = { checked: 0, cutOff: 0, unreachable: 0, round: false };
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const entry = await records.get(tallyKey);
      const known = entry === undefined ? none : tallySchema.parse(JSON.parse(entry.value.toString()));
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
      if ((await records.put(tallyKey, Buffer.from(JSON.stringify(value)), expectation)) === 'committed') return;
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
      // Figures for dashboards: where the store is away there is nothing to show them by either.
      timer ??= setTimeout(() => void flush().catch(() => undefined), flushAfterMs).unref();
    },
    flush,
  };
}

const none: z.infer<typeof tallySchema> = { format: 1, checked: 0, cutOff: 0, unreachable: 0 };

/** For metrics; undefined where nobody was ever asked about. */
export async function readTally(records: Pick<SealedRecordStore, 'get'>): Promise<Tally | undefined> {
  const entry = await records.get(tallyKey);
  return entry === undefined ? undefined : tallySchema.parse(JSON.parse(entry.value.toString()));
}
