import type { StructuredLog } from '../../platform/output/structured-log.ts';
import type { BodyMemory } from '../streams/body-memory.ts';
import type { ConfiguredDirectory } from '../federation/ldap/configured-directory.ts';
import type { AdminServices } from '../administration/services.ts';
import type { OpenIdProviders } from '../federation/openid-providers.ts';
import type { PolicySource } from '../auth/access.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Access, Principal } from '../auth/principal.ts';
import type { RequestOrigin } from '../auth/condition-keys.ts';
import type { FindSource } from '../http/contract/source-address.ts';
import type { AuditContext, RequestEvents } from '../http/contract/request.ts';
import type { IdentityReader } from '../auth/identities/identities.ts';
import type { HealthFacts } from '../observability/health/health-checks.ts';
import type { MetricsHistory } from '../observability/metrics/metrics-history.ts';
import type { UsageHistory } from '../observability/usage/usage-history.ts';
import type { BackgroundTask } from '../maintenance/background-tasks.ts';
import type { TaskProgress } from '../maintenance/task-progress.ts';
import type { PausableTask, TaskPauses } from '../maintenance/task-pauses.ts';
import type { ObjectLayer } from '../objects/contract/object-layer.ts';
import type { SealedRecordStore } from '../encryption/sealed-records.ts';
import type { AssumeRoleWithLdapIdentity } from '../sts/assume-role-with-ldap-identity.ts';
import type { AssumeRoleWithWebIdentity } from '../sts/assume-role-with-web-identity.ts';

/** The dependencies of the console. It calls them in this process and sends no HTTP to its own server. */
export interface ConsoleServices {
  readonly objects: ObjectLayer;
  readonly access: Access & { readonly identities: Pick<IdentityReader, 'policiesOf'> };
  readonly policies: PolicySource;
  readonly providers: Pick<OpenIdProviders, 'list' | 'byId' | 'started'>;
  readonly assumeRoleWithWebIdentity: AssumeRoleWithWebIdentity;
  readonly directory: Pick<ConfiguredDirectory, 'isConfigured'>;
  readonly assumeRoleWithLdapIdentity: AssumeRoleWithLdapIdentity;
  /** Sessions and the key of pending sign-ins are secrets, and so their records are sealed. */
  readonly records: ConsoleRecords;
  readonly administration: Administration;
  /** Runs operations of the S3 API with the rights of a session. */
  readonly s3: SessionS3;
  /** Runs calls of the admin API with the rights of a session. */
  readonly admin?: SessionAdmin;
  /** The data of the pages about operations. */
  readonly operations?: OperationsServices;
  /** Reports the state of the removal of expired sessions. */
  readonly tasks?: ConsoleTasks;
  readonly settings: ConsoleSettings;
  /** Observers of finished calls. */
  readonly events?: RequestEvents;
  /** Finds the source of a request; absent: the peer of the connection. */
  readonly findSource?: FindSource;
  /** Limits the memory of request bodies. */
  readonly bodies?: BodyMemory;
  readonly clock: () => Date;
  readonly log: ConsoleLog;
}

/** Runs operations of the S3 API with the rights of a session, which takes the place of a signature. */
export interface SessionS3 {
  /**
   * Answers the request. Rejects with an `S3Error` where no byte of the answer was sent; a refusal has the message of `explain`.
   */
  serve(message: IncomingMessage, response: ServerResponse, call: SessionS3Call): Promise<void>;
  /**
   * Runs an operation for which no browser waits. Its documents are in memory: it is not for the bodies of objects. Rejects where the
   * server has a defect.
   */
  run(operation: SessionS3Operation): Promise<SessionS3Answer>;
}

/** An operation of background work. */
export interface SessionS3Operation extends Pick<
  SessionS3Call,
  'principal' | 'origin' | 'requestId' | 'bucket' | 'key' | 'rawQuery'
> {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface SessionS3Answer {
  readonly headers: Readonly<Record<string, string>>;
  readonly document: Buffer;
  /** The error that S3 answers; undefined if it did what it was asked for. */
  readonly error?: { readonly code: string; readonly message: string };
  /** The right that was refused, where the error is `AccessDenied`. */
  readonly denied?: DeniedRight | undefined;
}

export interface SessionS3Call {
  readonly principal: Principal;
  readonly origin: RequestOrigin;
  readonly requestId: string;
  readonly bucket: string;
  /** Undefined for an operation on the bucket. */
  readonly key: string | undefined;
  /** The query of the operation, percent-encoded. */
  readonly rawQuery: string;
  /** Headers that replace those of the answer; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly audit: AuditContext | undefined;
  /** Returns the message for the user about a refused right. */
  explain(rejected: DeniedRight): Promise<string>;
}

/** Runs calls of the admin API with the rights of a session, which takes the place of a signature. */
export interface SessionAdmin {
  /** Answers the call. Rejects with an `S3Error` where no byte of the answer was sent. */
  serve(message: IncomingMessage, response: ServerResponse, call: SessionAdminCall): Promise<void>;
}

interface SessionAdminCall extends Pick<
  SessionS3Call,
  'principal' | 'origin' | 'requestId' | 'rawQuery' | 'audit' | 'explain'
> {
  /** The path of the admin API, for example `/minio/admin/v4/info`. */
  readonly path: string;
}

/** Sources of the pages about operations. */
export interface OperationsServices {
  readonly history: Pick<MetricsHistory, 'read'>;
  readonly usageHistory: Pick<UsageHistory, 'read'>;
  readonly facts: () => Promise<HealthFacts>;
  /** `SVC_AUDIT_FILE`; absent without one. */
  readonly auditFile?: string;
  readonly tasks: () => Promise<readonly BackgroundTask[]>;
  /** The progress of the tasks that report it, by task. */
  readonly progress: () => Promise<Readonly<Record<string, TaskProgress>>>;
  readonly pauses: TaskPauses;
  /** The tasks that may be paused. */
  readonly pausable: readonly PausableTask[];
}

export interface DeniedRight {
  readonly action: string;
  /** `bucket/key` or `bucket`. */
  readonly resource: string;
}

/** Runs a background task and records its outcome. Rejects with its error. */
export interface ConsoleTasks {
  run(task: string, retryMs: number, work: () => Promise<void>): Promise<void>;
}

/** The administration functions, which the admin API uses too. */
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
  /** `SVC_BROWSER_REDIRECT_URL`: the public URL of the console behind a proxy. */
  readonly browserUrl?: string;
  /** `SVC_BROWSER_REDIRECT_HOSTS`: the allowed hosts of a dynamic redirect; empty or absent: all that the provider allows. */
  readonly redirectHosts?: readonly string[];
  /** The URL of the listener, for example `http://127.0.0.1:9090`; absent if it listens on all addresses. */
  readonly ownUrl?: string;
  /** `SVC_CONSOLE_SESSION_DURATION`, in milliseconds. */
  readonly sessionDurationMs: number;
  /** `SVC_SERVER_URL`: the endpoint for S3 clients, which the console shows. */
  readonly s3Url?: string;
  /** `SVC_REGION`: the location of new buckets. */
  readonly region: string;
  /** `SVC_REGION` is set: all buckets are shown with it. */
  readonly hasRegion: boolean;
  /** The folder of the built web application; absent: `dist/console` of the checkout. */
  readonly webFolder?: string;
}

/** The methods of pino's logger that the console uses. */
export type ConsoleLog = Pick<StructuredLog, 'info' | 'warn' | 'error'>;
