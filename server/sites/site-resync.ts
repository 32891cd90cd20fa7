import { readSealedJson } from '../encryption/sealed-json.ts';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ShownSiteResync, SiteResyncReport } from '../administration/sites.ts';
import { sealedKey, type SealedRecordStore } from '../encryption/sealed-records.ts';
import type { RemoteTargets, StoredTarget } from '../replication/remote-targets.ts';
import { readStats } from '../replication/replication-stats.ts';
import type { RecordStore } from '../store/record-store.ts';

const asked = z.object({ id: z.string(), started: z.number(), canceled: z.number().optional() });

interface SiteResyncsOptions {
  readonly sealed: SealedRecordStore;
  readonly records: RecordStore;
  readonly targets: RemoteTargets;
  readonly clock: () => number;
}

/** Sends all that this site holds to another one again: a resync of each bucket, under one id. */
export class SiteResyncs {
  readonly #options: SiteResyncsOptions;

  constructor(options: SiteResyncsOptions) {
    this.#options = options;
  }

  async start(site: string): Promise<SiteResyncReport> {
    const { sealed, clock } = this.#options;
    const id = randomUUID();
    const before = clock();
    await sealed.put(keyOf(site), Buffer.from(JSON.stringify({ id, started: before })));
    return { id, buckets: await this.#change(site, (target) => ({ ...target, resync: { id, before } })) };
  }

  /** The changes that are queued already are still sent. */
  async cancel(site: string): Promise<SiteResyncReport> {
    const { sealed, clock } = this.#options;
    const known = await this.#asked(site);
    const id = known?.id ?? '';
    if (known !== undefined) {
      await sealed.put(keyOf(site), Buffer.from(JSON.stringify({ ...known, canceled: clock() })));
    }
    const ofIt = (stored: StoredTarget) => stored.target.resync?.id === id;
    const canceled = (target: StoredTarget['target']) =>
      target.resync === undefined ? target : { ...target, resync: { ...target.resync, canceled: clock() } };
    return { id, buckets: await this.#change(site, canceled, ofIt) };
  }

  async state(site: string): Promise<ShownSiteResync | undefined> {
    const known = await this.#asked(site);
    if (known === undefined) return undefined;
    const states = (
      await Promise.all(
        (await this.#targetsOf(site)).map(async ({ id, target }) => ({
          bucket: target.sourceBucket,
          isAsked: target.resync?.id === known.id,
          resync: (await readStats(this.#options.records, id)).resync,
        })),
      )
    ).filter(({ isAsked, resync }) => isAsked || resync?.id === known.id);
    const of = states.flatMap(({ resync }) => (resync?.id === known.id ? [resync] : []));
    const sum = (count: (state: (typeof of)[number]) => number) => of.reduce((all, state) => all + count(state), 0);
    const isOver = states.every(({ resync }) => resync?.id === known.id && resync.ended !== undefined);
    const failedBuckets = states.flatMap(({ bucket, resync }) => ((resync?.failed.count ?? 0) > 0 ? [bucket] : []));
    const walking = states.find(({ resync }) => resync?.id === known.id && resync.next !== undefined);
    const ended = Math.max(known.started, ...of.map((state) => state.ended ?? 0));
    const state =
      known.canceled !== undefined
        ? 'Canceled'
        : !isOver
          ? 'Ongoing'
          : failedBuckets.length > 0
            ? 'Failed'
            : 'Completed';
    return {
      id: known.id,
      state,
      started: known.started,
      updated: known.canceled ?? (isOver ? ended : this.#options.clock()),
      buckets: states.length,
      replicated: {
        count: sum(({ replicated }) => replicated.count),
        bytes: sum(({ replicated }) => replicated.bytes),
      },
      failed: { count: sum(({ failed }) => failed.count), bytes: sum(({ failed }) => failed.bytes) },
      failedBuckets,
      ...(walking?.resync?.next && { at: { bucket: walking.bucket, key: walking.resync.next.key } }),
    };
  }

  async #asked(site: string): Promise<z.infer<typeof asked> | undefined> {
    const entry = await this.#options.sealed.get(keyOf(site));
    return entry && readSealedJson(asked, entry);
  }

  async #targetsOf(site: string): Promise<readonly StoredTarget[]> {
    return (await this.#options.targets.all()).filter(({ target }) => target.site === site);
  }

  async #change(
    site: string,
    change: (target: StoredTarget['target']) => StoredTarget['target'],
    isMeant: (stored: StoredTarget) => boolean = () => true,
  ): Promise<SiteResyncReport['buckets']> {
    const stored = (await this.#targetsOf(site)).filter(isMeant);
    return Promise.all(
      stored.map(async (one) => {
        const bucket = one.target.sourceBucket;
        const isDone = await this.#options.targets.replace(one, change(one.target));
        return isDone ? { bucket } : { bucket, error: 'the target was changed at the same time: try again' };
      }),
    );
  }
}

function keyOf(site: string) {
  return sealedKey('site-replication', 'resync', site);
}
