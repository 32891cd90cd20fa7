import type { HeldEventChange, HeldEventPage } from '../../protocol/admin/held-event.ts';
import type { NotificationQueue } from '../../protocol/admin/notification-queue.ts';
import type { RemoteTargetChange, RemoteTargetFields, ShownRemoteTarget } from '../../protocol/admin/remote-target.ts';
import type { AskedBacklog, BacklogEntry } from '../../protocol/admin/replication-backlog.ts';
import type { ShownTier, TierFields } from '../../protocol/admin/tier.ts';
import type { CallableServer } from './other-servers.ts';
import type { VolumeSpace } from '../store/volume-space.ts';
import type { GivenSetting } from '../../platform/settings/setting-source.ts';
import type { FollowedLines, LineRing } from '../shared-memory/line-ring.ts';
import type { Authenticate, AccessService } from '../auth/access.ts';
import type { LdapDirectory } from '../federation/ldap/ldap-directory.ts';
import type { ArchivedUsers } from '../federation/archived-users.ts';
import type { UserStatusCheck } from '../federation/user-status-check.ts';
import type { SignInTest } from '../federation/sign-in-test.ts';
import type { TemporaryCredentialsStore } from '../auth/temporary-credentials.ts';
import type { Identities } from '../auth/identities/identities.ts';
import type { IdentityProviderConfigurations } from '../federation/configurations/provider-configurations.ts';
import type { StoredConfigurations } from '../federation/configurations/stored-configurations.ts';
import type { KeyLifecycle } from '../maintenance/rewrap/key-lifecycle.ts';
import type { BatchJobs } from '../maintenance/batch/batch-jobs.ts';
import type { Maintenance } from '../maintenance/maintenance.ts';
import type { ObjectLayer } from '../objects/contract/object-layer.ts';
import type { BackgroundTask } from '../maintenance/background-tasks.ts';
import type { AuditTargetSums } from '../observability/audit/audit-tally.ts';
import type { UsageReader } from '../observability/usage/usage-record.ts';
import type { ServerSpeeds, SiteReplication } from './sites.ts';
import type { KeyAdministration } from './keys.ts';
import type { ProfileKind, Diagnostics } from './diagnostics.ts';
import type { ExportedBuckets, ImportingBuckets } from './bucket-documents.ts';

/** The dependencies of the admin API. */
export interface AdminServices {
  readonly authenticate: Authenticate;
  readonly access: Pick<AccessService, 'credentials' | 'authorize' | 'explain'> &
    Partial<Pick<AccessService, 'formerRoot'>>;
  readonly identities: Identities;
  readonly temporary: TemporaryCredentialsStore;
  readonly root: { readonly user: string };
  readonly objects: Pick<ObjectLayer, 'listBuckets'>;
  /** Configuration of buckets: quotas, export and import. */
  readonly buckets?: ExportedBuckets & ImportingBuckets;
  readonly server: ServerFacts;
  /** Usage by bucket. */
  readonly usage?: UsageReader;
  /** The state of the background tasks of all servers. */
  readonly backgroundTasks?: () => Promise<readonly BackgroundTask[]>;
  /** The audit targets of this server, and whether each took the last entry that it was sent. */
  readonly auditTargets?: () => readonly AuditTargetSums[];
  /** The targets of events that buckets may name, as `ID:TYPE`. */
  readonly notificationTargets?: readonly string[];
  /** The queues of notification targets. */
  readonly notifications?: () => Promise<readonly NotificationQueue[]>;
  /** The events that targets have refused. */
  readonly heldNotifications?: HeldNotifications;
  /** The remote targets of replication. */
  readonly remoteTargets?: RemoteTargets;
  readonly replicationBacklog?: ReplicationBacklog;
  readonly tiers?: Tiers;
  /** The replication of sites. */
  readonly sites?: SiteReplication;
  /** The other running servers over the same stores. */
  readonly others?: () => readonly OtherServer[];
  /** The same servers, for calls in the name of the deployment. */
  readonly callableServers?: () => readonly CallableServer[];
  /** The connections between this server and the others. */
  readonly serverSpeeds?: ServerSpeeds;
  /** Bytes of the blob store; undefined if unknown. */
  readonly space: () => Promise<VolumeSpace | undefined>;
  /** Why a write would fail now; undefined where none would. */
  readonly storeFault?: () => object | undefined;
  /** Absent where no key service is configured. */
  readonly keys?: KeyAdministration;
  /** Usage, removal and rotation of keys. */
  readonly keyLifecycle?: KeyLifecycle;
  /** Identity providers that administrators configure while the server runs. */
  readonly identityProviders?: readonly IdentityProviderConfigurations[];
  readonly configurationHistory?: Pick<StoredConfigurations, 'history' | 'historyEntry' | 'clearHistory'>;
  /** The settings of the environment. */
  readonly given?: ReadonlyMap<string, GivenSetting>;
  /** Absent where none is configured. */
  readonly directory?: Pick<LdapDirectory, 'find'>;
  /** Checks whether external users still exist. */
  readonly userStatusCheck?: UserStatusCheck;
  /** Absent without OpenID providers. */
  readonly signInTest?: SignInTest;
  /** Absent without OpenID providers: an archive then brings no keys of their users. */
  readonly archivedUsers?: ArchivedUsers;
  /** Maintenance of the stores. */
  readonly maintenance?: Maintenance;
  readonly batchJobs?: BatchJobs;
  /** Measurements of this server. */
  readonly diagnostics?: Diagnostics;
  /** Control of this process. */
  readonly process?: ServerProcess;
  /** Documents are not encrypted under the caller's secret key: a session of the console has none. */
  readonly plainDocuments?: boolean;
  /** Aborts when endless answers have to end. */
  readonly stopping?: AbortSignal;
  readonly clock?: () => Date;
}

/** An object whose event was changed. */
interface ChangedObject {
  readonly bucket: string;
  readonly key: string;
  readonly versionId?: string | undefined;
}

interface HeldNotificationChange {
  readonly chosen: readonly string[] | 'all';
  /** Is called with the object of each event that was changed. */
  readonly onChanged: (object: ChangedObject) => void;
}

/** The events that targets have refused. */
interface HeldNotifications {
  /** Reads a page of at most `limit` events of a target, after one of them. */
  list(target: string, page: { readonly after: string | undefined; readonly limit: number }): Promise<HeldEventPage>;
  /** Lets events be tried again at once. They stay held until the target takes them. */
  retry(target: string, change: HeldNotificationChange): Promise<HeldEventChange>;
  /** Drops events for good. */
  drop(target: string, change: HeldNotificationChange): Promise<HeldEventChange>;
}

/** The remote targets of replication. Errors are `S3Error`s. */
export interface RemoteTargets {
  /** Lists those of a bucket, or all. */
  list(bucket: string | undefined): Promise<readonly ShownRemoteTarget[]>;
  /** Resolves with the ARN. */
  add(target: RemoteTargetFields): Promise<string>;
  update(target: RemoteTargetFields & { readonly arn: string }, fields: readonly RemoteTargetChange[]): Promise<string>;
  remove(bucket: string, arn: string): Promise<void>;
}

/** Lists what is not replicated yet. Errors are `S3Error`s. */
export interface ReplicationBacklog {
  list(asked: AskedBacklog): Promise<(signal: AbortSignal) => AsyncIterable<readonly BacklogEntry[]>>;
}

/** The tiers. Errors are `S3Error`s. */
export interface Tiers {
  list(): Promise<readonly ShownTier[]>;
  /** `force` takes a bucket that is not empty. */
  add(tier: TierFields, force: boolean): Promise<void>;
  /** Without an access key that of the tier stays. */
  edit(name: string, keys: Partial<Pick<TierFields, 'accessKey'>> & Pick<TierFields, 'secretKey'>): Promise<void>;
  /** `force` removes a tier that has bodies. */
  remove(name: string, force: boolean): Promise<void>;
  verify(name: string): Promise<void>;
}

export type ServiceAction = 'restart' | 'stop' | 'freeze' | 'unfreeze';

/** This server process with all its threads. */
export interface ServerProcess {
  /** Resolves when the action has begun on every thread. Running requests are still answered. */
  act(action: ServiceAction): Promise<void>;
  /** The last lines of the log. */
  readonly log: LineRing;
  /** Profiles each thread for the time. Resolves with the files, and the names of the threads that did not answer. */
  profile(
    kinds: readonly ProfileKind[],
    durationMs: number,
  ): Promise<{
    readonly files: readonly { readonly name: string; readonly text: string }[];
    readonly missing: readonly string[];
  }>;
  /** Streams finished requests as lines of JSON until the signal. */
  trace(signal: AbortSignal): AsyncIterable<FollowedLines>;
}

interface ServerFacts {
  readonly deploymentId: string;
  readonly version: string;
  readonly commitId?: string;
  readonly region: string;
  /** `HOST:PORT` of this server. */
  readonly endpoint: string;
  readonly dataFolder: string;
  /** The host names of the virtual-host style. */
  readonly domains?: readonly string[];
  readonly startedAt: Date;
}

export interface OtherServer {
  readonly endpoint: string;
  readonly version: string;
  /** Milliseconds since 1970 by the clock of that server. */
  readonly startedAt: number;
}
