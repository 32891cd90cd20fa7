import type { StillUnknown } from '../../protocol/policy/could-allow.ts';
import type { Answer, IncomingRequest } from '../http/contract/request.ts';
import type { AuthenticatedRequest } from '../auth/authenticate.ts';
import type {
  CompleteMultipartUpload,
  CopyObject,
  CreateMultipartUpload,
  DeleteConditions,
  ObjectLayer,
  PutObject,
  PutPart,
} from '../objects/object-layer.ts';
import type { Query } from './request.ts';

/** Condition keys with their values. */
export type PolicyContext = Readonly<Record<string, readonly string[]>>;

/** One operation of the S3 API: what a row of the route table points to. */
export interface Operation {
  /** The name in the S3 documentation, e.g. `PutObject`. */
  readonly name: string;
  /** Needed on the addressed bucket or object before `handle` runs; undefined where the operation asks for itself. */
  readonly action: string | undefined;
  /** Values that conditions of policies may test beside those of the request itself, for what the request refers to. */
  readonly context?: (call: S3Call) => Promise<PolicyContext>;
  handle(call: S3Call): Promise<Answer>;
}

/** A request whose signature holds, on its way into an operation. */
export interface S3Call {
  readonly request: IncomingRequest;
  readonly auth: AuthenticatedRequest;
  readonly query: Query;
  /** '' where the path names none. */
  readonly bucket: string;
  readonly key: string;
  readonly objects: StatedObjects;
  readonly region: string;
  /** Names under which clients reach this server, where they are known. */
  readonly servedNames: readonly string[];
  /** Whether keys of clients are taken from this request: they must not travel in the clear. */
  readonly mayCarryKeys: boolean;
  /** Whether the caller may do this on `bucket` or `bucket/key`. */
  allows(action: string, resource: string): Promise<boolean>;
  /**
   * `context`: what conditions may test beside all else.
   *
   * @throws S3Error AccessDenied where the caller may not
   */
  require(action: string, resource: string, context?: PolicyContext): Promise<void>;
  /**
   * For what only the body says: refuses a caller whom no policy could allow the action, whatever the body turns out to say. Nothing of
   * the body is read before.
   *
   * @throws S3Error AccessDenied
   */
  requirePossible(action: string, resource: string, unknown: StillUnknown): Promise<void>;
}

/** A request with each of its fields named, where there is nothing to say as undefined. */
export type Stated<T> = { readonly [Field in keyof Required<T>]: T[Field] };

/**
 * The object layer as operations of the API call it: the compiler refuses a call that leaves out a field. An optional field that is
 * forgotten is a guard of the client, such as a condition or a checksum, that nobody checks.
 */
export interface StatedObjects extends Omit<ObjectLayer, StatedMethod> {
  putObject(request: Stated<PutObject>): ReturnType<ObjectLayer['putObject']>;
  copyObject(request: Stated<CopyObject>): ReturnType<ObjectLayer['copyObject']>;
  deleteObject(
    bucket: string,
    key: string,
    conditions: DeleteConditions | undefined,
  ): ReturnType<ObjectLayer['deleteObject']>;
  createMultipartUpload(request: Stated<CreateMultipartUpload>): ReturnType<ObjectLayer['createMultipartUpload']>;
  putPart(request: Stated<PutPart>): ReturnType<ObjectLayer['putPart']>;
  copyPart(request: Stated<Parameters<ObjectLayer['copyPart']>[0]>): ReturnType<ObjectLayer['copyPart']>;
  completeMultipartUpload(request: Stated<CompleteMultipartUpload>): ReturnType<ObjectLayer['completeMultipartUpload']>;
}

type StatedMethod =
  | 'putObject'
  | 'copyObject'
  | 'deleteObject'
  | 'createMultipartUpload'
  | 'putPart'
  | 'copyPart'
  | 'completeMultipartUpload';
