import { S3Error } from '../../protocol/s3/s3-error.ts';
import { randomUUID } from 'node:crypto';
import type { ReplicationConfiguration, ReplicationRule } from '../../protocol/s3/bucket-replication.ts';
import type { ObjectLayer } from '../objects/contract/object-layer.ts';
import type { RemoteTargets, StoredTarget } from '../replication/remote-targets.ts';
import type { RemoteTarget } from '../../protocol/admin/remote-target.ts';
import { enableVersions } from './bucket-items.ts';
import { siteAccount, type Site, type SiteState } from './site-state.ts';

/** The ids of the rules that sites make, as in MinIO. */
const rulePrefix = 'site-repl-';
const healthCheckMs = 5_000;

interface SiteRulesOptions {
  readonly targets: RemoteTargets;
  readonly objects: Pick<
    ObjectLayer,
    'getBucketReplication' | 'putBucketReplication' | 'getBucketVersioning' | 'putBucketVersioning'
  >;
  readonly clock: () => number;
}

/** The replication rules and remote targets by which the objects of a bucket reach the other sites. */
export class SiteRules {
  readonly #options: SiteRulesOptions;

  constructor(options: SiteRulesOptions) {
    this.#options = options;
  }

  /**
   * Makes the rules and targets of a bucket for the peers that have it, with a resync of what is there already. Targets of sites that left
   * the group are removed; the other rules of the bucket stay.
   */
  async ensure(bucket: string, peers: readonly Site[], state: SiteState): Promise<void> {
    const { targets, objects } = this.#options;
    await enableVersions(objects, bucket);
    const configuration = await objects.getBucketReplication(bucket);
    const stored = await this.#ofSites(bucket);
    const inGroup = new Set(state.sites.map(({ deploymentId }) => deploymentId));
    const arns = new Map<string, string>();
    for (const { target } of stored)
      if (target.site !== undefined && inGroup.has(target.site)) arns.set(target.site, target.arn);
    for (const peer of peers) {
      const known = stored.find(({ target }) => target.site === peer.deploymentId);
      const place = placeOf(bucket, peer, state);
      if (known === undefined) {
        arns.set(peer.deploymentId, await targets.add(randomUUID(), place));
      } else if (Object.entries(place).some(([name, value]) => known.target[name as keyof RemoteTarget] !== value)) {
        await targets.replace(known, { ...known.target, ...place });
      }
    }
    const before = new Set((configuration?.rules ?? []).map(({ target }) => target));
    const after = withSiteRules(configuration, arns);
    if (after !== undefined) await objects.putBucketReplication(bucket, after);
    for (const one of await this.#ofSites(bucket)) {
      const { site = '', arn, resync } = one.target;
      if (!inGroup.has(site)) await targets.remove(one);
      else if (resync === undefined || !before.has(arn)) await this.#resync(one);
    }
  }

  /** Removes all rules and targets of sites. */
  async removeAll(): Promise<void> {
    const { targets, objects } = this.#options;
    const stored = (await targets.all()).filter(({ target }) => target.site !== undefined);
    for (const bucket of new Set(stored.map(({ target }) => target.sourceBucket))) {
      const configuration = await objects.getBucketReplication(bucket).catch(ofMissingBucket);
      const after = configuration && withSiteRules(configuration, new Map());
      if (after !== undefined) {
        await objects.putBucketReplication(bucket, after.rules.length === 0 ? undefined : after);
      }
    }
    for (const one of stored) await targets.remove(one);
  }

  async #ofSites(bucket: string): Promise<readonly StoredTarget[]> {
    return (await this.#options.targets.ofBucket(bucket)).filter(({ target }) => target.site !== undefined);
  }

  async #resync(stored: StoredTarget): Promise<void> {
    const resync = { id: randomUUID(), before: this.#options.clock() };
    await this.#options.targets.replace(stored, { ...stored.target, resync });
  }
}

/** A removed bucket has no rules. Rules that cannot be read would stay without their targets. */
function ofMissingBucket(error: unknown): undefined {
  if (error instanceof S3Error && error.code === 'NoSuchBucket') return undefined;
  throw error;
}

function placeOf(bucket: string, { endpoint, deploymentId, bandwidthLimit }: Site, { secretKey }: SiteState) {
  const { host, protocol } = new URL(endpoint);
  return {
    sourceBucket: bucket,
    endpoint: host,
    secure: protocol === 'https:',
    targetBucket: bucket,
    path: 'on' as const,
    region: '',
    accessKey: siteAccount,
    secretKey,
    bandwidthLimit,
    healthCheckMs,
    disableProxy: false,
    site: deploymentId,
  };
}

/**
 * Returns the configuration with a rule for each site, which has the ARN of its target, and without the rules of other sites; undefined
 * where nothing changes.
 */
function withSiteRules(
  configuration: ReplicationConfiguration | undefined,
  arns: ReadonlyMap<string, string>,
): ReplicationConfiguration | undefined {
  const rules = configuration?.rules ?? [];
  const isWanted = ({ id, target, enabled }: ReplicationRule) =>
    !id.startsWith(rulePrefix) || (enabled && arns.get(id.slice(rulePrefix.length)) === target);
  const kept = rules.filter(isWanted);
  const missing = [...arns].filter(([site]) => !kept.some(({ id }) => id === `${rulePrefix}${site}`));
  if (kept.length === rules.length && missing.length === 0) return undefined;
  const highest = Math.max(0, ...kept.map(({ priority }) => priority));
  return {
    ...configuration,
    rules: [...kept, ...missing.map(([site, arn], at) => siteRule(site, arn, highest + 1 + at))],
  };
}

function siteRule(site: string, arn: string, priority: number): ReplicationRule {
  return {
    id: `${rulePrefix}${site}`,
    enabled: true,
    priority,
    filter: { prefix: '' },
    destination: arn,
    target: arn,
    deleteMarkers: true,
    deletes: true,
    replicaModifications: true,
    existingObjects: true,
  };
}
