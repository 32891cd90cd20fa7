import type { GivenSetting } from '../../platform/settings/setting-source.ts';
import type { FollowedLines, LineRing } from '../../platform/line-ring.ts';
import type { Authenticate } from '../auth/authenticate.ts';
import type { AccessRoom } from '../auth/access.ts';
import type { LdapDirectory } from '../federation/ldap/ldap-directory.ts';
import type { PersonCheck } from '../federation/user-status-check.ts';
import type { SignInTrial } from '../federation/sign-in-test.ts';
import type { TemporaryCredentialsStore } from '../auth/temporary-credentials.ts';
import type { Identities } from '../auth/identities/identities.ts';
import type { IdentityProviderConfigurations } from '../federation/configurations/provider-configurations.ts';
import type { StoredConfigurations } from '../federation/configurations/stored-configurations.ts';
import type { KeyLifecycle } from '../maintenance/rewrap/key-lifecycle.ts';
import type { Maintenance } from '../maintenance/maintenance.ts';
import type { ObjectLayer } from '../objects/object-layer.ts';
import type { BackgroundTask } from '../maintenance/background-tasks.ts';
import type { UsageReader } from '../observability/usage/usage-record.ts';
import type { KeyAdministration } from './keys.ts';
import type { ExportedBuckets, ImportingBuckets } from './bucket-archive.ts';

/** What the admin API needs of the other rooms. */
export interface AdminServices {
  readonly authenticate: Authenticate;
  readonly access: Pick<AccessRoom, 'credentials' | 'authorize' | 'explain'> & Partial<Pick<AccessRoom, 'formerRoot'>>;
  readonly identities: Identities;
  readonly temporary: TemporaryCredentialsStore;
  readonly root: { readonly user: string };
  readonly objects: Pick<ObjectLayer, 'listBuckets'>;
  /** What is set for buckets, to be moved as a whole. */
  readonly buckets?: ExportedBuckets & ImportingBuckets;
  readonly server: ServerFacts;
  /** How much is stored, by bucket. */
  readonly usage?: UsageReader;
  /** How the background tasks of all servers fare. */
  readonly backgroundTasks?: () => Promise<readonly BackgroundTask[]>;
  /** The other servers over the same stores that are there now. */
  readonly others?: () => readonly OtherServer[];
  /** Of what holds the blobs; undefined where that cannot be told. Bytes. */
  readonly space: () => Promise<{ readonly free: number; readonly total: number } | undefined>;
  /** Absent where no key service is configured. */
  readonly keys?: KeyAdministration;
  /** What keys are used for. */
  readonly keyLifecycle?: KeyLifecycle;
  /** Identity providers that administrators configure while the server runs. */
  readonly identityProviders?: readonly IdentityProviderConfigurations[];
  readonly configurationHistory?: Pick<StoredConfigurations, 'history' | 'historyEntry' | 'clearHistory'>;
  /** What the environment gives. */
  readonly given?: ReadonlyMap<string, GivenSetting>;
  /** Absent where none is configured. */
  readonly directory?: Pick<LdapDirectory, 'find'>;
  /** Whether people still exist at their provider. */
  readonly personCheck?: PersonCheck;
  /** Absent where nobody signs in by OpenID. */
  readonly signInTrial?: SignInTrial;
  /** What is done with the stores as a whole. */
  readonly maintenance?: Maintenance;
  /** What the process does beside serving. */
  readonly process?: ServerProcess;
  /** Says that answers without an end have to end. */
  readonly stopping?: AbortSignal;
  readonly clock?: () => Date;
}

export type ServiceAction = 'restart' | 'stop' | 'freeze' | 'unfreeze';

/** This server as the process that it is, all its threads together. */
export interface ServerProcess {
  /** Resolves when it has begun on every thread; what is being answered is answered still. */
  act(action: ServiceAction): Promise<void>;
  /** The lines of the log that were written last. */
  readonly log: LineRing;
  /** Requests that are over, as lines of JSON, from now on until the signal. */
  trace(signal: AbortSignal): AsyncIterable<FollowedLines>;
}

interface ServerFacts {
  readonly deploymentId: string;
  readonly version: string;
  readonly commitId?: string;
  readonly region: string;
  /** `HOST:PORT` under which this server is known. */
  readonly endpoint: string;
  readonly dataFolder: string;
  readonly startedAt: Date;
}

export interface OtherServer {
  readonly endpoint: string;
  readonly version: string;
  /** Milliseconds since 1970, by its own clock. */
  readonly startedAt: number;
}
