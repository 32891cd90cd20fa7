import { randomBytes } from 'node:crypto';
import { commitOnce, decodeCounter } from '../../store/commits.ts';
import { key } from '../../store/keys.ts';
import type { Key, RecordStore } from '../../store/record-store.ts';

/** The reads that a target was asked for since it was added. The failed ones are among the others. */
export interface ProxiedTotals {
  readonly get: number;
  readonly getFailed: number;
  readonly head: number;
  readonly headFailed: number;
  readonly tags: number;
  readonly tagsFailed: number;
}

/** The kind of a proxied read: of an object with its body, of its head, or of its tags. */
type ProxiedKind = 'GET' | 'HEAD' | 'tags';

const kinds = ['get', 'getFailed', 'head', 'headFailed', 'tags', 'tagsFailed'] as const;
type Kind = (typeof kinds)[number];

const kindsOf: Readonly<Record<ProxiedKind, readonly [all: Kind, failed: Kind]>> = {
  GET: ['get', 'getFailed'],
  HEAD: ['head', 'headFailed'],
  tags: ['tags', 'tagsFailed'],
};

const flushMs = 1_000;

/** The keys of the counters of a target. All servers add to them. */
export function proxiedKeys(target: string): readonly Key[] {
  return kinds.map((kind) => key('replication-proxied', target, kind));
}

export async function readProxied(records: Pick<RecordStore, 'getAll'>, target: string): Promise<ProxiedTotals> {
  const entries = await records.getAll(proxiedKeys(target));
  const [get = 0, getFailed = 0, head = 0, headFailed = 0, tags = 0, tagsFailed = 0] = entries.map((entry) =>
    Number(decodeCounter(entry?.value)),
  );
  return { get, getFailed, head, headFailed, tags, tagsFailed };
}

/** Counts the reads of a thread, and adds them to the records once a second. A thread that ends loses those of its last second. */
export class ProxiedCounts {
  readonly #records: Pick<RecordStore, 'commit' | 'outcome'>;
  readonly #waiting = new Map<string, Map<Kind, bigint>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(records: Pick<RecordStore, 'commit' | 'outcome'>) {
    this.#records = records;
  }

  count(target: string, asked: ProxiedKind, failed: boolean): void {
    const counts = this.#waiting.get(target) ?? new Map<Kind, bigint>();
    this.#waiting.set(target, counts);
    const [all, ofFailed] = kindsOf[asked];
    counts.set(all, (counts.get(all) ?? 0n) + 1n);
    if (failed) counts.set(ofFailed, (counts.get(ofFailed) ?? 0n) + 1n);
    this.#timer ??= setTimeout(() => void this.flush(), flushMs).unref();
  }

  /** Never rejects: counts that cannot be stored are lost, for instance those of a read-only store. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const add = [...this.#waiting].flatMap(([target, counts]) =>
      [...counts].map(([kind, delta]) => ({ key: key('replication-proxied', target, kind), delta })),
    );
    this.#waiting.clear();
    if (add.length > 0) await commitOnce(this.#records, { add }, randomBytes).catch(() => undefined);
  }
}
