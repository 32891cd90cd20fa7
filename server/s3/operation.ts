import type { StillUnknown } from '../../protocol/policy/could-allow.ts';
import type { Answer, IncomingRequest } from '../http/contract/request.ts';
import type { IncomingHttpHeaders } from 'node:http';
import type { ReplicationConfiguration } from '../../protocol/s3/bucket-replication.ts';
import type { FormFields } from '../../protocol/s3/post/post-policy.ts';
import type { AuthenticatedRequest } from '../auth/access.ts';
import type { Right } from '../auth/authorize.ts';
import type { FormSender } from '../auth/authenticate-form.ts';
import type { BodySource } from '../objects/contract/body-source.ts';
import type { ProxiedAnswer, ProxiedRead, ProxiedTags, ProxiedTagsRead } from '../objects/replication/proxied-read.ts';
import type {
  BucketSetting,
  CompleteMultipartUpload,
  CopyObject,
  CreateMultipartUpload,
  DeleteOptions,
  ObjectInfo,
  ObjectLayer,
  ObjectWriter,
  PutObject,
  PutPart,
  ReadOptions,
} from '../objects/contract/object-layer.ts';
import type { QueryBudget } from '../select/query-budget.ts';
import type { CannedAclRule } from './acl/canned-acl-rule.ts';
import type { Query } from './request.ts';

/** Condition keys with their values. */
export type PolicyContext = Readonly<Record<string, readonly string[]>>;

/** One operation of the S3 API, which a row of the route table refers to. */
export interface Operation {
  /** The name in the S3 documentation, e.g. `PutObject`. */
  readonly name: string;
  /**
   * The action that the caller needs on the addressed bucket or object before `handle` runs; undefined if the operation authorizes the
   * caller itself.
   */
  readonly action: string | undefined;
  /** The action in place of `action` for a request with a `versionId`. */
  readonly versionAction?: string;
  /** The setting of the bucket that the operation reads or writes as a whole: see `handleSetting`. */
  readonly setting?: BucketSetting;
  /** True for an operation that creates an object, false for one that begins or goes on with an upload in parts: a condition key. */
  readonly createsObject?: boolean;
  /** Returns further condition keys, for the resource that the request refers to. */
  readonly context?: (call: S3Call) => Promise<PolicyContext>;
  handle(call: S3Call): Promise<Answer>;
}

/**
 * Returns the stream of the records of events from its start on, until the client is gone. Throws `NotImplemented` where it cannot hear all
 * of them, and `SlowDown` where too many clients listen: before the answer begins.
 */
export type ListenedEvents = (asked: {
  /** Undefined for all buckets. */
  readonly bucket: string | undefined;
  readonly names: readonly string[];
  readonly prefix: string;
  readonly suffix: string;
}) => (gone: AbortSignal) => AsyncIterable<readonly object[]>;

type ReplicationWriter = Pick<ObjectLayer, 'putBucketReplication'>;

/** The replication of buckets, with its remote targets. Each call throws `S3Error`s. */
export interface Replications {
  /** `objects` has the condition of the caller. */
  put(bucket: string, configuration: ReplicationConfiguration, objects: ReplicationWriter): Promise<void>;
  /** Removes the targets of the bucket too. */
  remove(bucket: string, objects: ReplicationWriter): Promise<void>;
  /** The metrics of MinIO's clients. */
  metrics(bucket: string, version: 1 | 2): Promise<object>;
  startResync(
    bucket: string,
    resync: { readonly arn: string; readonly olderThanMs: number; readonly id: string | undefined },
  ): Promise<object>;
  resyncs(bucket: string, arn: string): Promise<object>;
  /** Resolves with the id of the resync that it ends. */
  cancelResync(bucket: string, arn: string): Promise<string>;
  /**
   * Waits until the targets of a new version that replicate synchronously have it, have refused it, or do not answer in time. It never
   * rejects.
   */
  waitFor(written: Pick<ObjectInfo, 'bucket' | 'key' | 'versionId' | 'replication'>): Promise<void>;
  /**
   * Asks the remote targets of a bucket for an object or a version that is not here. Undefined where none of them has it, may be asked, or
   * answers in time. It never rejects.
   */
  readElsewhere(read: ProxiedRead): Promise<ProxiedAnswer | undefined>;
  /** Asks for the tags of an object in the same way. */
  readTagsElsewhere(read: ProxiedTagsRead): Promise<ProxiedTags | undefined>;
}

/** A request with a valid signature, as an operation gets it. */
export interface S3Call extends ObjectWriter {
  readonly request: IncomingRequest;
  readonly auth: AuthenticatedRequest;
  readonly query: Query;
  /** The bucket; '' if the path names none. */
  readonly bucket: string;
  readonly key: string;
  readonly objects: ExplicitObjectLayer;
  readonly region: string;
  /** The region is set. Otherwise `region` is a default, and clients may ask for any. */
  readonly hasRegion: boolean;
  /** The host names by which clients reach this server, if known. */
  readonly servedNames: readonly string[];
  /** The targets of notifications, each `ID:TYPE`. */
  readonly notificationTargets: readonly string[];
  readonly listenedEvents: ListenedEvents | undefined;
  readonly replications: Replications | undefined;
  /** Reports if this request may carry customer keys, which must not travel in clear text. */
  readonly allowsCustomerKeys: boolean;
  /** The budget of a query of S3 Select. */
  readonly queryBudget: QueryBudget;
  readonly cannedAcls: CannedAclRule;
  /**
   * The id of the object whose ACL or tags allow the request, '' for an absent one: the request reads and changes no other one. Undefined
   * where neither was asked for.
   */
  readonly grantedObject: string | undefined;
  /** The time of the server's clock. */
  readonly now: Date;
  /** Reports if the caller may do this on `bucket` or `bucket/key`. `context` adds condition keys. */
  allows(action: string, resource: string, context?: PolicyContext): Promise<boolean>;
  /** Reports if the caller may do this whatever the tags and the ACL of the object: it may be the object of another server. */
  allowsAnyObject(actions: VersionActions, resource: string, versionId: string | undefined): Promise<boolean>;
  /** Reports what `requireVersion` decides. */
  allowsVersion(actions: VersionActions, resource: string, versionId: string | undefined): Promise<boolean>;
  /**
   * Authorizes the caller. `context` adds condition keys.
   *
   * @throws S3Error AccessDenied
   */
  require(action: string, resource: string, context?: PolicyContext): Promise<void>;
  /**
   * Authorizes the caller to set the ACL of the object that the request creates.
   *
   * @throws S3Error AccessDenied
   */
  requireAclOfNewObject(): Promise<void>;
  /**
   * Authorizes the caller for an object or, with `versionId`, for one of its versions. A statement that denies `action` denies the version
   * too, as in MinIO: a Deny that was written for a bucket without versions holds when the bucket gets versions. Resolves with the id of the
   * object whose ACL or tags the decision depends on.
   *
   * @throws S3Error AccessDenied
   */
  requireVersion(
    actions: VersionActions,
    resource: string,
    versionId: string | undefined,
    context?: PolicyContext,
  ): Promise<string | undefined>;
  /** Verifies the signature of a form; undefined for one without. Rejects like `Authenticate`. */
  authenticateForm(fields: FormFields): Promise<FormSender | undefined>;
  /** Returns the call that stores the file of a form. Without a sender it is that of the caller of the request. */
  ofForm(form: FormObject): S3Call;
  /**
   * Refuses each header that the operation does not honour, and runs the checks that operations share.
   *
   * @throws S3Error with the code of the table
   */
  checkHeaders(operation: string): void;
  /**
   * Refuses a caller whom no policy could allow one of the actions, for actions that depend on the body. It runs before the body is read.
   *
   * @throws S3Error AccessDenied
   */
  requirePossible(action: string | readonly string[], resource: string, unknown: StillUnknown): Promise<void>;
  /**
   * Authorizes the caller for what the server does later (`deferred-rights.ts`).
   *
   * @throws S3Error AccessDenied
   */
  requireAll(rights: readonly Right[]): Promise<void>;
}

/** The object that a form describes. */
export interface FormObject {
  readonly key: string;
  /** The fields of the form, as headers of PutObject. */
  readonly headers: IncomingHttpHeaders;
  readonly sender: FormSender | undefined;
  readonly body: BodySource;
  readonly size: number | undefined;
}

/** The actions of an operation on the current version of an object, and on a version that the request names. */
export interface VersionActions {
  readonly action: string;
  readonly versionAction: string;
}

export const readActions: VersionActions = { action: 's3:GetObject', versionAction: 's3:GetObjectVersion' };

export const readTagsActions: VersionActions = {
  action: 's3:GetObjectTagging',
  versionAction: 's3:GetObjectVersionTagging',
};

/** A request in which each field is present; undefined marks an absent value. */
export type Explicit<T> = { readonly [Field in keyof Required<T>]: T[Field] };

/**
 * The object layer as the operations call it. The compiler refuses a call without one of the fields: a forgotten optional field could be a
 * condition or checksum of the client that would not be checked.
 */
export interface ExplicitObjectLayer extends Omit<ObjectLayer, ExplicitMethod> {
  putObject(request: Explicit<PutObject>): ReturnType<ObjectLayer['putObject']>;
  headObject(bucket: string, key: string, options: Explicit<ReadOptions>): ReturnType<ObjectLayer['headObject']>;
  getObject(bucket: string, key: string, options: Explicit<ReadOptions>): ReturnType<ObjectLayer['getObject']>;
  copyObject(request: Explicit<CopyObject>): ReturnType<ObjectLayer['copyObject']>;
  deleteObject(bucket: string, key: string, options: Explicit<DeleteOptions>): ReturnType<ObjectLayer['deleteObject']>;
  createMultipartUpload(request: Explicit<CreateMultipartUpload>): ReturnType<ObjectLayer['createMultipartUpload']>;
  putPart(request: Explicit<PutPart>): ReturnType<ObjectLayer['putPart']>;
  copyPart(request: Explicit<Parameters<ObjectLayer['copyPart']>[0]>): ReturnType<ObjectLayer['copyPart']>;
  completeMultipartUpload(
    request: Explicit<CompleteMultipartUpload>,
  ): ReturnType<ObjectLayer['completeMultipartUpload']>;
}

type ExplicitMethod =
  | 'putObject'
  | 'headObject'
  | 'getObject'
  | 'copyObject'
  | 'deleteObject'
  | 'createMultipartUpload'
  | 'putPart'
  | 'copyPart'
  | 'completeMultipartUpload';
