import type { StructuredLog } from '../../platform/output/structured-log.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { Identities } from '../auth/identities/identities.ts';
import { ItemApplier } from './apply-item.ts';
import type { LiveItems } from './live-items.ts';
import type { CallPeer } from './peer-client.ts';
import { pollPeer, type PollResult } from './poll-peer.ts';
import { itemId, type ItemKey, itemKinds, type ItemKind } from './site-items.ts';
import { type LedgerEntry, observe, type SiteLedger, wanted } from './site-ledger.ts';
import { type AccountStore, ensureSiteAccount } from './site-account.ts';
import type { SiteRules } from './site-rules.ts';
import { adopted, type Site, siteAccount, type SiteState, type SiteStates } from './site-state.ts';

interface ReconcileOptions {
  readonly states: SiteStates;
  readonly ledger: SiteLedger;
  readonly live: LiveItems;
  readonly rules: SiteRules;
  readonly identities: AccountStore & Pick<Identities, 'removeServiceAccount'>;
  readonly call: CallPeer;
  /** The deployment id of this site. */
  readonly self: string;
  readonly clock: () => number;
  readonly log: Pick<StructuredLog, 'info' | 'warn'>;
}

interface PeerProgress {
  polling: Promise<void> | undefined;
  result: PollResult | undefined;
  /** The digest of the ledger of the peer that this site has applied whole. */
  applied: string | undefined;
  /** The buckets that the peer has. */
  buckets: ReadonlySet<string>;
  /** The time of the next poll after a failure. */
  nextPoll: number;
  away: boolean;
}

/** Milliseconds for which a round waits for the answers of other sites. Later answers are applied in the next round. */
const waitMs = 1_000;
/** Milliseconds after a failure, until the same is tried again. */
const retryMs = 5_000;
/** Milliseconds between two looks at the rules of buckets that nothing has changed. */
const rulesMs = 30_000;

/**
 * Keeps this site in step with the others: it notes what was changed here, takes what was changed later elsewhere, and makes the rules by
 * which objects are replicated. Each site asks the others, so that a site which was away gets what it missed. Rounds never run at the
 * same time.
 */
export class SiteReconciler {
  readonly #options: ReconcileOptions;
  readonly #peers = new Map<string, PeerProgress>();
  #ledger: Map<string, LedgerEntry> | undefined;
  #group = '';
  #rulesFor = '';
  #rulesAt = -Infinity;
  readonly #applier: ItemApplier;

  constructor(options: ReconcileOptions) {
    this.#options = options;
    this.#applier = new ItemApplier(options);
  }

  /** One comparison with all other sites. */
  async round(): Promise<void> {
    const state = await this.#options.states.get();
    if (state === undefined || state.id !== this.#group) this.#reset(state?.id ?? '');
    if (state === undefined) return;
    // A site that is not in the group has left it.
    if (!state.sites.some(({ deploymentId }) => deploymentId === this.#options.self)) return this.#leave();
    const ledger = (this.#ledger ??= await this.#options.ledger.read());
    await this.#observe(state, ledger);
    const peers = state.sites.filter(({ deploymentId }) => deploymentId !== this.#options.self);
    await this.#poll(state, ledger, peers);
    const newer = this.#newerGroup(state);
    if (newer !== undefined) return this.#options.states.put(newer);
    for (const peer of peers) await this.#take(state, ledger, peer);
    await this.#makeRules(state, peers);
  }

  #reset(group: string): void {
    this.#group = group;
    this.#ledger = undefined;
    this.#peers.clear();
    this.#applier.reset();
    this.#rulesFor = '';
  }

  /** The rules and targets go first: they use the account. */
  async #leave(): Promise<void> {
    const { states, ledger, rules, identities, log } = this.#options;
    await rules.removeAll();
    if ((await identities.serviceAccount(siteAccount)) !== undefined) {
      await identities.removeServiceAccount(siteAccount);
    }
    await ledger.clear();
    await states.remove();
    this.#reset('');
    log.info({}, 'this site has left the replication of sites');
  }

  async #observe(state: SiteState, ledger: Map<string, LedgerEntry>): Promise<void> {
    const { live, clock } = this.#options;
    const kinds = kindsOf(state);
    const { items, unreadable } = await live.scan(state.secretKey, kinds);
    const change = observe(ledger, items, { kinds, now: clock(), unreadable });
    await this.#note(ledger, change.put, change.drop);
  }

  async #note(
    ledger: Map<string, LedgerEntry>,
    put: readonly LedgerEntry[],
    drop: readonly ItemKey[] = [],
  ): Promise<void> {
    if (put.length === 0 && drop.length === 0) return;
    for (const entry of put) ledger.set(itemId(entry), entry);
    for (const key of drop) ledger.delete(itemId(key));
    try {
      await this.#options.ledger.write({ put, drop }, ledger);
    } catch (error) {
      // The next round reads what was written.
      this.#ledger = undefined;
      throw error;
    }
  }

  async #poll(state: SiteState, ledger: Map<string, LedgerEntry>, peers: readonly Site[]): Promise<void> {
    const { call, clock } = this.#options;
    const polls: Promise<void>[] = [];
    for (const peer of peers) {
      const progress = this.#progress(peer);
      if (progress.polling === undefined && progress.result === undefined && progress.nextPoll <= clock()) {
        const { applied } = progress;
        const kinds = kindsOf(state);
        progress.polling = this.#ask(peer, progress, { call, state, ledger, kinds, now: clock(), applied });
      }
      if (progress.polling !== undefined) polls.push(progress.polling);
    }
    if (polls.length === 0) return;
    const waited = new AbortController();
    const timeout = sleep(waitMs, undefined, { signal: waited.signal }).catch(() => undefined);
    await Promise.race([Promise.all(polls), timeout]);
    waited.abort();
  }

  async #ask(peer: Site, progress: PeerProgress, options: Parameters<typeof pollPeer>[1]): Promise<void> {
    try {
      progress.result = await pollPeer(peer, options);
      this.#answered(peer, progress);
    } catch (error) {
      this.#failed(peer, progress, error);
    } finally {
      progress.polling = undefined;
    }
  }

  #progress({ deploymentId }: Site): PeerProgress {
    const known = this.#peers.get(deploymentId);
    if (known !== undefined) return known;
    const progress: PeerProgress = {
      polling: undefined,
      result: undefined,
      applied: undefined,
      buckets: new Set(),
      nextPoll: 0,
      away: false,
    };
    this.#peers.set(deploymentId, progress);
    return progress;
  }

  #answered({ name }: Site, progress: PeerProgress): void {
    if (progress.away) this.#options.log.info({ site: name }, 'the site answers again');
    progress.away = false;
  }

  #failed({ name }: Site, progress: PeerProgress, error: unknown): void {
    progress.nextPoll = this.#options.clock() + retryMs;
    if (!progress.away) {
      this.#options.log.warn(
        { err: error, site: name, retryInMs: retryMs },
        'the site cannot be asked for its changes',
      );
    }
    progress.away = true;
  }

  /** Takes over a newer group that another site has. A site that is not in it any more leaves. */
  #newerGroup(state: SiteState): SiteState | undefined {
    let newest: SiteState | undefined;
    for (const { result } of this.#peers.values()) {
      if (result?.group !== undefined) newest = adopted(newest ?? state, result.group) ?? newest;
    }
    if (newest === undefined) return undefined;
    for (const progress of this.#peers.values()) progress.result = undefined;
    const isMember = newest.sites.some(({ deploymentId }) => deploymentId === this.#options.self);
    return isMember ? newest : { ...newest, sites: [] };
  }

  /** Applies what another site changed later than this one. */
  async #take(state: SiteState, ledger: Map<string, LedgerEntry>, peer: Site): Promise<void> {
    const progress = this.#progress(peer);
    const news = progress.result?.news;
    progress.result = undefined;
    if (news === undefined) return;
    progress.buckets = new Set(
      news.entries.flatMap(({ kind, name, digest }) => (kind === 'bucket' && digest !== undefined ? [name] : [])),
    );
    let isWhole = true;
    const done = new Map<string, LedgerEntry>();
    const options = { kinds: kindsOf(state), now: this.#options.clock() };
    for (const entry of wanted(ledger, news.entries, options)) {
      const applied = await this.#applier.apply(entry, { state, ledger, values: news.values, site: peer.name });
      if (applied === 'later') isWhole = false;
      else if (applied !== 'not here') {
        for (const one of [applied, ...(await this.#applier.settingsOfNew(applied, { state, ledger }))]) {
          done.set(itemId(one), one);
          ledger.set(itemId(one), one);
        }
      }
    }
    await this.#note(ledger, [...done.values()]);
    progress.applied = isWhole ? news.digest : undefined;
    if (!isWhole) progress.nextPoll = this.#options.clock() + retryMs / 5;
  }

  /** A rule is made when the other site has the bucket: a resync sends what is there by then. */
  async #makeRules(state: SiteState, peers: readonly Site[]): Promise<void> {
    const { live, rules, clock, log } = this.#options;
    const held = peers.map((peer) => ({ peer, buckets: this.#progress(peer).buckets }));
    const shared = held.map(({ peer, buckets }) => `${peer.deploymentId}=${[...buckets].join(',')}`);
    const wantedFor = [state.updatedAt, live.bucketRevisions, ...shared].join('\n');
    if (wantedFor === this.#rulesFor && clock() - this.#rulesAt < rulesMs) return;
    await ensureSiteAccount(this.#options.identities, state.secretKey);
    for (const { kind, name, digest } of this.#ledger?.values() ?? []) {
      if (kind !== 'bucket' || digest === undefined) continue;
      const having = held.filter(({ buckets }) => buckets.has(name)).map(({ peer }) => peer);
      try {
        await rules.ensure(name, having, state);
      } catch (error) {
        if (error instanceof S3Error && error.code === 'NoSuchBucket') continue;
        log.warn({ err: error, bucket: name }, 'the replication rules of a bucket cannot be made yet');
      }
    }
    this.#rulesFor = wantedFor;
    this.#rulesAt = clock();
  }
}

/** Lifecycle rules are shared where the administrator wants it. */
export function kindsOf({ replicateIlmExpiry }: Pick<SiteState, 'replicateIlmExpiry'>): ReadonlySet<ItemKind> {
  return new Set(itemKinds.filter((kind) => kind !== 'bucket-lifecycle' || replicateIlmExpiry));
}
