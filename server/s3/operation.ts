import type { StillUnknown } from '../../protocol/policy/could-allow.ts';
import type { Answer } from '../access/answer.ts';
import type { AuthenticatedRequest, IncomingRequest } from '../access/incoming-request.ts';
import type { ObjectLayer } from '../objects/object-layer.ts';
import type { Query } from './query.ts';

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
  readonly objects: ObjectLayer;
  readonly region: string;
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
