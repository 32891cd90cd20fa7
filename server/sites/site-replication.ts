import type { z } from 'zod';
import type {
  NewSite,
  PeerCalls,
  ShownSites,
  SiteChange,
  SiteContents,
  SiteReplication,
  SiteSpeed,
} from '../administration/sites.ts';
import type { LiveItems } from './live-items.ts';
import type { CallPeer } from './peer-client.ts';
import { indexAnswer, itemsRequest, joinRequest } from './peer-messages.ts';
import { credentialsOf, type SiteAdministration } from './site-administration.ts';
import { digestOf } from './site-items.ts';
import { fromRow, type LedgerEntry, type SiteLedger, toRow } from './site-ledger.ts';
import type { SiteResyncs } from './site-resync.ts';
import type { SiteSpeeds } from './site-speed.ts';
import { groupOf, siteAccount, siteGroup, type SiteState } from './site-state.ts';
import { adminError } from '../administration/admin-error.ts';

interface SiteReplicationOptions {
  readonly administration: SiteAdministration;
  readonly ledger: SiteLedger;
  readonly live: LiveItems;
  readonly resyncs: SiteResyncs;
  readonly speeds: SiteSpeeds;
  readonly call: CallPeer;
  /** Throws `StoreError` unpromoted where another store may act for this deployment: its sites take this one for that. */
  readonly requirePromoted: () => Promise<void>;
  /** The deployment id of this site. */
  readonly self: string;
}

/** The replication of sites for the admin API. */
export class Sites implements SiteReplication {
  readonly #options: SiteReplicationOptions;
  readonly peer: PeerCalls;

  constructor(options: SiteReplicationOptions) {
    this.#options = options;
    const { administration, ledger, speeds, requirePromoted } = options;
    const promoted =
      <Arguments extends unknown[], Result>(act: (...given: Arguments) => Promise<Result>) =>
      async (...given: Arguments) => {
        await requirePromoted();
        return act(...given);
      };
    this.peer = {
      describe: promoted(() => administration.describe()),
      join: promoted((body) => administration.join(checked(joinRequest, body))),
      edit: promoted((body) => administration.takeOver(checked(siteGroup, body))),
      leave: promoted(() => administration.leave()),
      digest: promoted(async () => {
        const state = await administration.group();
        return { ...(state && { group: groupOf(state) }), digest: await ledger.digest() };
      }),
      index: promoted(async () => ({ items: [...(await ledger.read()).values()].map(toRow) })),
      items: promoted((body) => this.#items(checked(itemsRequest, body).keys)),
      speed: promoted(async (durationMs: number) => ({ sent: await speeds.sendToOthers(durationMs) })),
    };
  }

  async shown(): Promise<ShownSites | undefined> {
    const state = await this.#options.administration.group();
    return state && this.#shown(state);
  }

  async add(sites: readonly NewSite[], replicateIlmExpiry: boolean): Promise<void> {
    await this.#options.requirePromoted();
    return this.#options.administration.add(sites, replicateIlmExpiry);
  }

  async edit(change: SiteChange): Promise<void> {
    await this.#options.requirePromoted();
    return this.#options.administration.edit(change);
  }

  async remove(names: readonly string[] | 'all'): Promise<readonly string[]> {
    await this.#options.requirePromoted();
    return this.#options.administration.remove(names);
  }

  async contents(): Promise<SiteContents | undefined> {
    const { administration, ledger, call, self } = this.#options;
    const state = await administration.group();
    if (state === undefined) return undefined;
    await this.#options.requirePromoted();
    const own = [...(await ledger.read()).values()];
    const contents = await Promise.all(
      state.sites.map(async (site) => {
        const asked = { method: 'GET', call: 'index', sealed: 'answer', answer: indexAnswer } as const;
        const entries =
          site.deploymentId === self
            ? own
            : await call(site, credentialsOf(state), asked).then(
                ({ items }) => items.map(fromRow),
                () => undefined,
              );
        return [site.deploymentId, entries && byKind(entries)] as const;
      }),
    );
    return { ...this.#shown(state), contents: new Map(contents) };
  }

  async speed(durationMs: number, signal: AbortSignal): Promise<readonly SiteSpeed[] | undefined> {
    await this.#options.requirePromoted();
    return this.#options.speeds.measure(durationMs, signal);
  }

  async startResync(deploymentId: string) {
    await this.#options.requirePromoted();
    await this.#checkPeer(deploymentId);
    const running = await this.#options.resyncs.state(deploymentId);
    if (running?.state === 'Ongoing') {
      throw adminError('XCofferRefused', `The resync ${running.id} to that site has not ended yet: cancel it first.`);
    }
    return this.#options.resyncs.start(deploymentId);
  }

  async cancelResync(deploymentId: string) {
    await this.#checkPeer(deploymentId);
    if ((await this.#options.resyncs.state(deploymentId))?.state !== 'Ongoing') {
      throw adminError('XCofferRefused', 'No resync to that site is running.');
    }
    return this.#options.resyncs.cancel(deploymentId);
  }

  resync(deploymentId: string) {
    return this.#options.resyncs.state(deploymentId);
  }

  async #checkPeer(deploymentId: string): Promise<void> {
    const shown = await this.shown();
    const isPeer = shown?.sites.some((site) => site.deploymentId === deploymentId) === true;
    if (isPeer && deploymentId !== this.#options.self) return;
    throw adminError('XMinioAdminInvalidArgument', 'The deployment is no other site of this server.');
  }

  /** Returns the values as they are now. Those that were changed since the ledger was written are left out. */
  async #items(keys: readonly Pick<LedgerEntry, 'kind' | 'name'>[]): Promise<unknown> {
    const { administration, ledger, live } = this.#options;
    const state = await administration.group();
    if (state === undefined) throw adminError('XCofferRefused', 'This server is no site.');
    const items = [];
    for (const key of keys) {
      const entry = await ledger.entry(key);
      const value = entry?.digest === undefined ? undefined : await live.sourceOf(key).read(key);
      if (value !== undefined && digestOf(state.secretKey, key, value) === entry?.digest) items.push({ ...key, value });
    }
    return { items };
  }

  #shown({ sites, replicateIlmExpiry }: SiteState): ShownSites {
    return { self: this.#options.self, sites, account: siteAccount, replicateIlmExpiry };
  }
}

function byKind(entries: readonly LedgerEntry[]): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const found = new Map<string, Map<string, string>>();
  for (const { kind, name, digest } of entries) {
    if (digest === undefined) continue;
    const ofKind = found.get(kind) ?? new Map<string, string>();
    found.set(kind, ofKind.set(name, digest));
  }
  return found;
}

/** The issues of the schema are not shown: a body has secrets. */
function checked<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const at = parsed.error.issues.map(({ path }) => path.join('.')).join(', ');
  throw adminError('XCofferInvalidRequest', `The body is not what this call takes: ${at}.`);
}
