import type { SiteContents } from '../../administration/sites.ts';
import { peerInfo } from './peer-info.ts';

/** The kinds that a client asks for, and the single entity. */
interface StatusQuery {
  readonly kinds: ReadonlySet<string>;
  readonly entity?: { readonly kind: string; readonly name: string };
}

export function statusQuery(query: URLSearchParams): StatusQuery {
  const kinds = ['buckets', 'policies', 'users', 'groups', 'ilm-expiry-rules', 'metrics'].filter(
    (kind) => query.get(kind) === 'true',
  );
  const [kind, name] = [query.get('entity') ?? '', query.get('entityvalue') ?? ''];
  return { kinds: new Set(kinds), ...(kind !== '' && name !== '' && { entity: { kind, name } }) };
}

/** The digest of an item on each site; undefined where it is not there. */
type Digests = readonly (string | undefined)[];

/** The state of an item on one site. */
interface Shown {
  readonly isThere: boolean;
  /** True where the sites have different values, or one has none. */
  readonly mismatch: boolean;
}

/** The sites side by side. A site that is away has nothing in step. */
class Comparison {
  readonly sites: readonly string[];
  readonly #contents: SiteContents['contents'];

  constructor({ sites, contents }: SiteContents) {
    this.sites = sites.map(({ deploymentId }) => deploymentId);
    this.#contents = contents;
  }

  names(kind: string): ReadonlySet<string> {
    return new Set(this.sites.flatMap((site) => [...(this.#contents.get(site)?.get(kind)?.keys() ?? [])]));
  }

  isAway(site: string): boolean {
    return this.#contents.get(site) === undefined;
  }

  count(site: string, kind: string, isMeant: (name: string) => boolean = () => true): number {
    return [...(this.#contents.get(site)?.get(kind)?.keys() ?? [])].filter(isMeant).length;
  }

  inStep(site: string, kind: string, isMeant: (name: string) => boolean = () => true): number {
    const names = [...(this.#contents.get(site)?.get(kind)?.keys() ?? [])].filter(isMeant);
    return names.filter((name) => !isMismatch(this.#digests(kind, name))).length;
  }

  at(site: string, kind: string, name: string): Shown {
    const digests = this.#digests(kind, name);
    return { isThere: this.#contents.get(site)?.get(kind)?.has(name) === true, mismatch: isMismatch(digests) };
  }

  #digests(kind: string, name: string): Digests {
    return this.sites.map((site) => this.#contents.get(site)?.get(kind)?.get(name));
  }
}

function isMismatch(digests: Digests): boolean {
  return new Set(digests).size > 1;
}

const attachmentOf = (kind: 'user' | 'group', name: string) => JSON.stringify([kind, name]);
const isOf = (...kinds: readonly string[]) => {
  const beginnings = kinds.map((kind) => `["${kind}",`);
  return (name: string) => beginnings.some((beginning) => name.startsWith(beginning));
};

/** Returns the status in the form of MinIO: counts for each site, and what is not in step. */
export function siteStatus(contents: SiteContents, { kinds, entity }: StatusQuery) {
  const all = new Comparison(contents);
  const has = (kind: string, single: string) => kinds.has(kind) || entity?.kind === single;
  const max = (kind: string) => Math.max(0, ...all.sites.map((site) => all.count(site, kind)));
  return {
    Enabled: true,
    MaxBuckets: has('buckets', 'bucket') ? max('bucket') : 0,
    MaxUsers: has('users', 'user') ? max('user') : 0,
    MaxGroups: has('groups', 'group') ? max('group') : 0,
    MaxPolicies: has('policies', 'policy') ? max('policy') : 0,
    MaxILMExpiryRules: has('ilm-expiry-rules', 'ilm-expiry-rule') ? max('bucket-lifecycle') : 0,
    Sites: Object.fromEntries(contents.sites.map((site) => [site.deploymentId, peerInfo(site, contents)])),
    StatsSummary: Object.fromEntries(all.sites.map((site) => [site, summary(all, site)])),
    BucketStats: statsOf(all, { kinds, entity, plural: 'buckets', single: 'bucket', kind: 'bucket', of: bucketStats }),
    PolicyStats: statsOf(all, { kinds, entity, plural: 'policies', single: 'policy', kind: 'policy', of: policyStats }),
    UserStats: statsOf(all, { kinds, entity, plural: 'users', single: 'user', kind: 'user', of: userStats }),
    GroupStats: statsOf(all, { kinds, entity, plural: 'groups', single: 'group', kind: 'group', of: groupStats }),
    ILMExpiryStats: statsOf(all, {
      kinds,
      entity,
      plural: 'ilm-expiry-rules',
      single: 'ilm-expiry-rule',
      kind: 'bucket-lifecycle',
      of: lifecycleStats,
    }),
    Metrics: {
      activeWorkers: { curr: 0, avg: 0, max: 0 },
      replMetrics: Object.fromEntries(
        contents.sites
          .filter(({ deploymentId }) => deploymentId !== contents.self)
          .map(({ deploymentId, endpoint }) => [
            deploymentId,
            { deploymentID: deploymentId, endpoint, isOnline: !all.isAway(deploymentId) },
          ]),
      ),
    },
    apiVersion: '1',
  };
}

interface StatsOptions extends StatusQuery {
  readonly plural: string;
  readonly single: string;
  readonly kind: string;
  readonly of: (all: Comparison, site: string, name: string) => Readonly<Record<string, boolean>>;
}

/** Returns by name and site what is not in step, or the one entity that was asked for. */
function statsOf(all: Comparison, { kinds, entity, plural, single, kind, of }: StatsOptions) {
  const names = entity?.kind === single ? [entity.name] : kinds.has(plural) ? [...all.names(kind)] : [];
  const rows = names.map((name) => {
    const bySite = all.sites.map((site) => [site, { DeploymentID: site, ...of(all, site, name) }] as const);
    return [name, Object.fromEntries(bySite)] as const;
  });
  const shown = rows.filter(([name, stats]) => entity?.kind === single || isWrong(stats) || isMissing(all, kind, name));
  return Object.fromEntries(shown);
}

function isWrong(stats: Readonly<Record<string, object>>): boolean {
  return Object.values(stats).some((one) =>
    Object.entries(one).some(([field, value]) => field.endsWith('Mismatch') && value === true),
  );
}

function isMissing(all: Comparison, kind: string, name: string): boolean {
  return all.sites.some((site) => !all.at(site, kind, name).isThere);
}

function bucketStats(all: Comparison, site: string, name: string) {
  const of = (kind: string) => all.at(site, `bucket-${kind}`, name);
  const bucket = all.at(site, 'bucket', name);
  const [tags, versioning, lock, policy] = [of('tags'), of('versioning'), of('objectLock'), of('policy')];
  const [encryption, quota, cors] = [of('encryption'), of('quota'), of('cors')];
  return {
    HasBucket: bucket.isThere,
    BucketMarkedDeleted: false,
    TagMismatch: tags.mismatch,
    VersioningConfigMismatch: versioning.mismatch,
    OLockConfigMismatch: lock.mismatch,
    PolicyMismatch: policy.mismatch,
    SSEConfigMismatch: encryption.mismatch,
    // A bucket has its rules as soon as the other sites have it too.
    ReplicationCfgMismatch: false,
    QuotaCfgMismatch: quota.mismatch,
    CorsCfgMismatch: cors.mismatch,
    HasTagsSet: tags.isThere,
    HasOLockConfigSet: lock.isThere,
    HasPolicySet: policy.isThere,
    HasSSECfgSet: encryption.isThere,
    HasReplicationCfg: bucket.isThere && !bucket.mismatch,
    HasQuotaCfgSet: quota.isThere,
    HasCorsCfgSet: cors.isThere,
  };
}

function policyStats(all: Comparison, site: string, name: string) {
  const policy = all.at(site, 'policy', name);
  return { PolicyMismatch: policy.mismatch, HasPolicy: policy.isThere };
}

function userStats(all: Comparison, site: string, name: string) {
  const user = all.at(site, 'user', name);
  const mapping = all.at(site, 'attachment', attachmentOf('user', name));
  return {
    PolicyMismatch: mapping.mismatch,
    UserInfoMismatch: user.mismatch,
    HasUser: user.isThere,
    HasPolicyMapping: mapping.isThere,
  };
}

function groupStats(all: Comparison, site: string, name: string) {
  const group = all.at(site, 'group', name);
  const mapping = all.at(site, 'attachment', attachmentOf('group', name));
  return {
    PolicyMismatch: mapping.mismatch,
    HasGroup: group.isThere,
    GroupDescMismatch: group.mismatch,
    HasPolicyMapping: mapping.isThere,
  };
}

function lifecycleStats(all: Comparison, site: string, name: string) {
  const rules = all.at(site, 'bucket-lifecycle', name);
  return { ILMExpiryRuleMismatch: rules.mismatch, HasILMExpiryRules: rules.isThere };
}

/** The counts of a site by the names of MinIO: all, and those that are the same everywhere. */
function summary(all: Comparison, site: string) {
  const ofUsers = isOf('user', 'ldap-user');
  const ofGroups = isOf('group', 'ldap-group');
  const step = (kind: string) => all.inStep(site, kind);
  const total = (kind: string) => all.count(site, kind);
  return {
    ReplicatedBuckets: step('bucket'),
    ReplicatedTags: step('bucket-tags'),
    ReplicatedBucketPolicies: step('bucket-policy'),
    ReplicatedIAMPolicies: step('policy'),
    ReplicatedUsers: step('user'),
    ReplicatedGroups: step('group'),
    ReplicatedLockConfig: step('bucket-objectLock'),
    ReplicatedSSEConfig: step('bucket-encryption'),
    ReplicatedVersioningConfig: step('bucket-versioning'),
    ReplicatedQuotaConfig: step('bucket-quota'),
    ReplicatedUserPolicyMappings: all.inStep(site, 'attachment', ofUsers),
    ReplicatedGroupPolicyMappings: all.inStep(site, 'attachment', ofGroups),
    ReplicatedILMExpiryRules: step('bucket-lifecycle'),
    ReplicatedCorsConfig: step('bucket-cors'),
    TotalBucketsCount: total('bucket'),
    TotalTagsCount: total('bucket-tags'),
    TotalBucketPoliciesCount: total('bucket-policy'),
    TotalIAMPoliciesCount: total('policy'),
    TotalLockConfigCount: total('bucket-objectLock'),
    TotalSSEConfigCount: total('bucket-encryption'),
    TotalVersioningConfigCount: total('bucket-versioning'),
    TotalQuotaConfigCount: total('bucket-quota'),
    TotalUsersCount: total('user'),
    TotalGroupsCount: total('group'),
    TotalUserPolicyMappingCount: all.count(site, 'attachment', ofUsers),
    TotalGroupPolicyMappingCount: all.count(site, 'attachment', ofGroups),
    TotalILMExpiryRulesCount: total('bucket-lifecycle'),
    TotalCorsConfigCount: total('bucket-cors'),
  };
}
