import type { BodyMemory } from '../../platform/body-memory.ts';
import type { ConfiguredDirectory } from '../federation/ldap/configured-directory.ts';
import type { AdminServices } from '../administration/services.ts';
import type { OpenIdProviders } from '../federation/openid-providers.ts';
import type { PolicySource } from '../auth/access.ts';
import type { Access } from '../auth/principal.ts';
import type { FindSource } from '../http/contract/source-address.ts';
import type { RequestEvents } from '../http/contract/request.ts';
import type { IdentityReader } from '../auth/identities/identities.ts';
import type { ObjectLayer } from '../objects/object-layer.ts';
import type { SealedRecordStore } from '../encryption/sealed-records.ts';
import type { AssumeRoleWithLdapIdentity } from '../sts/assume-role-with-ldap-identity.ts';
import type { AssumeRoleWithWebIdentity } from '../sts/assume-role-with-web-identity.ts';

/** What the console needs of the other rooms. It calls them in this process and never speaks HTTP to its own server. */
export interface ConsoleServices {
  readonly objects: ObjectLayer;
  readonly access: Access & { readonly identities: Pick<IdentityReader, 'policiesOf'> };
  readonly policies: PolicySource;
  readonly providers: Pick<OpenIdProviders, 'list' | 'byId' | 'started'>;
  /** `AssumeRoleWithWebIdentity` of the sts room: its refusals have a message that a person can act on. */
  readonly assumeRoleWithWebIdentity: AssumeRoleWithWebIdentity;
  readonly directory: Pick<ConfiguredDirectory, 'isConfigured'>;
  readonly assumeRoleWithLdapIdentity: AssumeRoleWithLdapIdentity;
  /** Sealed: sign-in sessions and sign-ins under way are secrets. */
  readonly records: ConsoleRecords;
  readonly administration: Administration;
  /** Keeps how the removal of expired sessions fares; absent where nobody asks. */
  readonly tasks?: ConsoleTasks;
  readonly settings: ConsoleSettings;
  /** Told of calls that are over; absent where nobody listens. */
  readonly events?: RequestEvents;
  /** Where requests come from; the peer of the connection without it. */
  readonly findSource?: FindSource;
  /** Where bodies that are held in memory are counted. */
  readonly bodies?: BodyMemory;
  readonly clock: () => Date;
  readonly log: ConsoleLog;
}

/** Runs a background task, and keeps how it fares. Rejects with its error. */
export interface ConsoleTasks {
  run(task: string, retryMs: number, work: () => Promise<void>): Promise<void>;
}

/** What administrators see and change: the same functions as behind the admin API. */
export type Administration = Pick<
  AdminServices,
  | 'access'
  | 'identities'
  | 'temporary'
  | 'root'
  | 'server'
  | 'usage'
  | 'others'
  | 'space'
  | 'keys'
  | 'identityProviders'
  | 'directory'
>;

export type ConsoleRecords = Pick<SealedRecordStore, 'get' | 'scan' | 'put' | 'delete'>;

export interface ConsoleSettings {
  /** `SVC_BROWSER_REDIRECT_URL`: where browsers reach the console behind a proxy. */
  readonly browserUrl?: string;
  /** `SVC_BROWSER_REDIRECT_HOSTS`: where a dynamic redirect may lead; none or absent: wherever the provider lets it. */
  readonly redirectHosts?: readonly string[];
  /** Where the console listens, e.g. `http://127.0.0.1:9090`; absent when it listens on every address of the machine. */
  readonly ownUrl?: string;
  /** `SVC_CONSOLE_SESSION_DURATION`, in milliseconds. */
  readonly sessionDurationMs: number;
  /** `SVC_SERVER_URL`: shown to people as the address for S3 clients. */
  readonly s3Url?: string;
  /** `SVC_REGION`: location of new buckets. */
  readonly region: string;
  /** Folder of the built web application; `dist/console` of the checkout when absent. */
  readonly webFolder?: string;
}

/** The part of pino's logger that is used here. */
export interface ConsoleLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
