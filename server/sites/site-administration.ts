import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewSite, SiteChange } from '../administration/sites.ts';
import type { CallPeer } from './peer-client.ts';
import type { PeerCredentials } from './signed-request.ts';
import { description, nothingAnswer, type SiteDescription } from './peer-messages.ts';
import { planOfSites } from './plan-sites.ts';
import { type AccountStore, ensureSiteAccount } from './site-account.ts';
import {
  changed,
  groupOf,
  type Site,
  siteAccount,
  type SiteGroup,
  type SiteState,
  type SiteStates,
} from './site-state.ts';
import { adminError } from '../administration/admin-error.ts';
import type { RequestError } from '../../protocol/request-error.ts';
import { ResponseError } from '../../protocol/response-error.ts';

interface SiteAdministrationOptions {
  readonly states: SiteStates;
  readonly identities: AccountStore;
  readonly call: CallPeer;
  /** The deployment id of this site. */
  readonly self: string;
  readonly describe: () => Promise<Omit<SiteDescription, 'group'>>;
  /** Removes the replication rules and targets that the sites made. */
  readonly removeRules: () => Promise<void>;
  readonly clock: () => number;
}

/** Milliseconds that a join waits until the site has left its former group. */
const leavingMs = 15_000;

/** Adds, changes and removes sites. Errors are `RequestError`s that name the site. */
export class SiteAdministration {
  readonly #options: SiteAdministrationOptions;

  constructor(options: SiteAdministrationOptions) {
    this.#options = options;
  }

  group(): Promise<SiteState | undefined> {
    return this.#options.states.joined();
  }

  async describe(): Promise<SiteDescription> {
    const state = await this.group();
    return { ...(await this.#options.describe()), ...(state && { group: groupOf(state) }) };
  }

  /** Makes these servers, of which this is one, sites of each other, or adds new ones to the group of this site. */
  async add(sites: readonly NewSite[], replicateIlmExpiry: boolean): Promise<void> {
    const { self, states, clock } = this.#options;
    const described = await Promise.all(
      sites.map(async (site) => ({ site, description: await this.#describePeer(site, site) })),
    );
    const known = await this.group();
    const { fresh, members } = planOfSites(described, self, known && groupOf(known));
    const all = members.map((site) => ({ ...site, bandwidthLimit: bandwidthOf(known, site) }));
    const state: SiteState =
      known === undefined
        ? {
            id: randomUUID(),
            updatedAt: clock(),
            secretKey: randomBytes(30).toString('base64url'),
            sites: all,
            replicateIlmExpiry,
          }
        : changed(known, { sites: all, replicateIlmExpiry: known.replicateIlmExpiry || replicateIlmExpiry }, clock());
    // The others call this site as soon as they have joined.
    if (known === undefined) await this.join(state);
    const joined: NewSite[] = [];
    try {
      for (const { site, description: of } of described) {
        if (of.deploymentId === self || !fresh.has(of.deploymentId)) continue;
        await this.#send(site, site, 'join', state);
        joined.push(site);
      }
    } catch (error) {
      await Promise.allSettled(joined.map((site) => this.#send(site, site, 'remove', undefined)));
      if (known === undefined) await this.leave();
      throw error;
    }
    await states.put(state);
    // A member that is away takes the group over when it is back.
    if (known !== undefined) await this.#offer(state, known.sites);
  }

  /** Takes this site into a group. */
  async join(state: SiteState): Promise<void> {
    const { states, self, clock } = this.#options;
    if (!state.sites.some(({ deploymentId }) => deploymentId === self)) {
      throw rejected(`This server is not among the sites: its deployment id is ${self}.`);
    }
    const until = clock() + leavingMs;
    for (let known = await states.get(); known !== undefined; known = await states.get()) {
      if (known.id === state.id && known.sites.length > 0) break;
      if (known.sites.length > 0)
        throw rejected('This server is in another group of sites: remove it from that first.');
      if (clock() > until) throw rejected('This server is still leaving its former group of sites: try again.');
      await sleep(200);
    }
    await ensureSiteAccount(this.#options.identities, state.secretKey);
    await states.put(state);
  }

  /** Takes over a newer group that another site made. */
  async takeOver(group: SiteGroup): Promise<void> {
    const { self } = this.#options;
    const known = await this.group();
    if (known?.id !== group.id) throw rejected('This server is not in that group of sites.');
    if (group.updatedAt <= known.updatedAt) return;
    const isMember = group.sites.some(({ deploymentId }) => deploymentId === self);
    await this.#putAs({ ...group, secretKey: known.secretKey, sites: isMember ? group.sites : [] });
  }

  /** Changes the endpoint or the bandwidth of a site, and whether lifecycle rules are replicated. */
  async edit({ deploymentId, endpoint, bandwidthLimit, replicateIlmExpiry }: SiteChange): Promise<void> {
    const { states, clock } = this.#options;
    if (deploymentId === undefined && (endpoint !== undefined || bandwidthLimit !== undefined)) {
      throw invalid(
        'Name the site by its deployment id ("mc admin replicate info" shows it): its endpoint or bandwidth is to change.',
      );
    }
    const state = await this.#required();
    const site = state.sites.find((one) => one.deploymentId === deploymentId);
    if (deploymentId !== undefined && site === undefined) {
      throw invalid(`There is no site with the deployment id ${deploymentId.slice(0, 128)}.`);
    }
    if (site !== undefined && endpoint !== undefined) {
      const found = await this.#describePeer({ name: site.name, endpoint }, credentialsOf(state));
      if (found.deploymentId !== deploymentId) {
        throw invalid(`${endpoint} is the deployment ${found.deploymentId}, and not the site ${site.name}.`);
      }
    }
    const sites = state.sites.map((one) =>
      one !== site
        ? one
        : { ...one, endpoint: endpoint ?? one.endpoint, bandwidthLimit: bandwidthLimit ?? one.bandwidthLimit },
    );
    const after = changed(state, { sites, ...(replicateIlmExpiry !== undefined && { replicateIlmExpiry }) }, clock());
    await states.put(after);
    await this.#offer(after, after.sites);
  }

  /** Removes sites by name, or all. Resolves with the reasons why sites could not be informed. */
  async remove(names: readonly string[] | 'all'): Promise<readonly string[]> {
    const { self, clock } = this.#options;
    const state = await this.#required();
    const unknown = names === 'all' ? undefined : names.find((name) => !state.sites.some((site) => site.name === name));
    if (unknown !== undefined) throw invalid(`There is no site ${JSON.stringify(unknown.slice(0, 128))}.`);
    const left = names === 'all' ? [] : state.sites.filter(({ name }) => !names.includes(name));
    // A site alone replicates with no other.
    const sites = left.length < 2 ? [] : left;
    const after = changed(state, { sites }, clock());
    const gone = state.sites.filter((site) => !sites.includes(site));
    const failures = [
      ...(await this.#tell(gone, (site) => this.#send(site, credentialsOf(state), 'remove', undefined))),
      ...(await this.#tell(sites, (site) => this.#send(site, credentialsOf(state), 'edit', groupOf(after)))),
    ];
    await this.#putAs(sites.some(({ deploymentId }) => deploymentId === self) ? after : { ...after, sites: [] });
    return failures;
  }

  /** This site leaves its group. Its rules and its account are removed within seconds. */
  async leave(): Promise<void> {
    const state = await this.group();
    if (state !== undefined) await this.#putAs(changed(state, { sites: [] }, this.#options.clock()));
  }

  /** A site that leaves has no rules when the call ends: what clients remove here afterwards stays on the others. */
  async #putAs(state: SiteState): Promise<void> {
    await this.#options.states.put(state);
    if (state.sites.length === 0) await this.#options.removeRules();
  }

  async #required(): Promise<SiteState> {
    const state = await this.group();
    if (state === undefined) throw rejected('This server is no site: "mc admin replicate add" makes it one.');
    return state;
  }

  async #offer(state: SiteState, sites: readonly Site[]): Promise<void> {
    await this.#tell(sites, (site) => this.#send(site, credentialsOf(state), 'edit', groupOf(state)));
  }

  /** Calls each site but this one, and resolves with what failed. */
  async #tell(sites: readonly Site[], send: (site: Site) => Promise<void>): Promise<readonly string[]> {
    const others = sites.filter(({ deploymentId }) => deploymentId !== this.#options.self);
    const sent = await Promise.allSettled(others.map(send));
    return sent.flatMap((one) => (one.status === 'fulfilled' ? [] : [messageOf(one.reason)]));
  }

  async #send(
    site: Pick<Site, 'name' | 'endpoint'>,
    credentials: PeerCredentials,
    call: 'join' | 'edit' | 'remove',
    body: unknown,
  ): Promise<void> {
    try {
      await this.#options.call(site, credentials, { method: 'PUT', call, body, sealed: 'body', answer: nothingAnswer });
    } catch (error) {
      throw asAdminError(error);
    }
  }

  async #describePeer(site: Pick<Site, 'name' | 'endpoint'>, credentials: PeerCredentials): Promise<SiteDescription> {
    try {
      return await this.#options.call(site, credentials, { method: 'GET', call: 'describe', answer: description });
    } catch (error) {
      throw asAdminError(error);
    }
  }
}

export function credentialsOf({ secretKey }: SiteState): PeerCredentials {
  return { accessKey: siteAccount, secretKey };
}

function bandwidthOf(state: SiteState | undefined, { deploymentId }: Pick<Site, 'deploymentId'>): number {
  return state?.sites.find((site) => site.deploymentId === deploymentId)?.bandwidthLimit ?? 0;
}

function asAdminError(error: unknown): unknown {
  if (!(error instanceof ResponseError)) return error;
  return adminError('XCofferRefused', `${error.message[0]?.toUpperCase()}${error.message.slice(1)}.`, {
    cause: error,
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function rejected(message: string): RequestError {
  return adminError('XCofferRefused', message);
}

function invalid(message: string): RequestError {
  return adminError('XMinioAdminInvalidArgument', message);
}
