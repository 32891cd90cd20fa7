import { readSealedJson } from '../encryption/sealed-json.ts';
import { z } from 'zod';
import { sealedKey, type SealedRecordStore } from '../encryption/sealed-records.ts';

/** The access key with which the sites call each other. It is a service account of the root user of each site. */
export const siteAccount = 'site-replicator-0';

const site = z.object({
  name: z.string().min(1).max(128),
  /** A URL without a path. */
  endpoint: z.url({ protocol: /^https?$/ }).max(512),
  deploymentId: z.string().min(1).max(128),
  /** Bytes each second for the objects of a bucket; 0 is no limit. */
  bandwidthLimit: z.int().nonnegative(),
});

/** The part of the state that all sites share. The newest of two groups with the same id is right. */
export const siteGroup = z.object({
  id: z.string().min(1).max(64),
  /** Milliseconds since 1970. */
  updatedAt: z.int(),
  sites: z.array(site).max(32),
  replicateIlmExpiry: z.boolean(),
});

export const siteState = siteGroup.extend({
  /** The secret key of the account of the sites, the same on each. */
  secretKey: z.string().min(8).max(128),
});

export type Site = z.infer<typeof site>;
export type SiteGroup = z.infer<typeof siteGroup>;
export type SiteState = z.infer<typeof siteState>;

const stateKey = sealedKey('site-replication', 'state');

/** The group that this site is in. A state without sites is one that this site has left: its rules and account are being removed. */
export class SiteStates {
  readonly #records: SealedRecordStore;

  constructor(records: SealedRecordStore) {
    this.#records = records;
  }

  async get(): Promise<SiteState | undefined> {
    const entry = await this.#records.get(stateKey);
    return entry && readSealedJson(siteState, entry);
  }

  /** Returns the state unless this site has left it. */
  async joined(): Promise<SiteState | undefined> {
    const state = await this.get();
    return state === undefined || state.sites.length === 0 ? undefined : state;
  }

  async put(state: SiteState): Promise<void> {
    await this.#records.put(stateKey, Buffer.from(JSON.stringify(state)));
  }

  async remove(): Promise<void> {
    await this.#records.delete(stateKey);
  }
}

/** Returns the group without its secret. */
export function groupOf({ id, updatedAt, sites, replicateIlmExpiry }: SiteState): SiteGroup {
  return { id, updatedAt, sites, replicateIlmExpiry };
}

/** Returns the state with a newer group; undefined where the group is not newer, or is another one. */
export function adopted(state: SiteState, group: SiteGroup): SiteState | undefined {
  if (group.id !== state.id || group.updatedAt <= state.updatedAt) return undefined;
  return { ...group, secretKey: state.secretKey };
}

/** Returns the state after a change. Its time is later than that of the one before, whatever the clock says. */
export function changed(state: SiteState, change: Partial<SiteState>, now: number): SiteState {
  return { ...state, ...change, updatedAt: Math.max(now, state.updatedAt + 1) };
}
