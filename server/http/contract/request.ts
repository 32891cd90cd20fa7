import type { X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { BodySource } from '../../objects/bodies/body-source.ts';
import type { Pieces } from '../../../platform/pieces.ts';
import type { BodySender } from '../../../platform/body-memory.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { FederatedSubject } from '../../auth/identities/subject.ts';
import type { Decision, Principal, TemporaryPrincipal } from '../../auth/principal.ts';

/** A request as it came, target split but nothing interpreted yet. Built by `http`, read by `s3`, `sts`, `admin`. */
export interface IncomingRequest {
  readonly requestId: string;
  readonly method: string;
  /** The path as sent, still percent-encoded: signatures cover these bytes. */
  readonly rawPath: string;
  /** The query string as sent, without `?`. */
  readonly rawQuery: string;
  /** Names in lower case; values joined with `, ` where a header repeats. */
  readonly headers: IncomingHttpHeaders;
  /** Read at most once. Reading it tells a client that waits with `Expect: 100-continue` to go on; leaving it unread is fine. */
  readonly body: BodySource;
  readonly secure: boolean;
  readonly remoteAddress: string;
  /** A proxy that nobody trusts passed the request on: many clients may share the address. */
  readonly sharedAddress?: boolean;
  /** What the client presented; set where the server asks for certificates. */
  readonly clientCertificate?: (() => ClientCertificate | undefined) | undefined;
  /** Told which operation the request asks for, once that is known: what is told is counted. */
  readonly measure?: { isFor(operation: string, bucket?: string): void } | undefined;
  /** Told what the rooms find out about the request; set where somebody listens. */
  readonly watch?: RequestWatch | undefined;
}

export interface ClientCertificate {
  readonly certificate: X509Certificate;
  /** Why the authorities of the server do not vouch for it; absent where they do. */
  readonly problem?: string;
}

/** What the S3, STS and admin rooms answer with; `http` writes it, and adds request ids, `Date` and `Server`. */
export interface Answer {
  readonly status: number;
  /** Names in lower case. `content-length` comes from the body, unless an answer to HEAD names it. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AnswerBody;
}

export type AnswerBody =
  | { readonly kind: 'empty' }
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  /** Exactly `size` bytes; when a piece fails the connection is cut, so that nobody takes a part for the whole. */
  | { readonly kind: 'pieces'; readonly size: number; readonly pieces: Pieces }
  /**
   * Text that may take minutes: if it is not there after some seconds, status and headers go out and spaces keep the connection
   * alive. `result` never rejects: an error is text of the answer then. `early` is put before the first space.
   */
  | { readonly kind: 'slow'; readonly early: Buffer; readonly result: Promise<Answer> }
  /**
   * Lines without an end, each piece whole ones, until the client goes: `signal` says so. Status and headers go out at once; spaces
   * between lines keep the connection alive.
   */
  | { readonly kind: 'endless'; readonly pieces: (signal: AbortSignal) => AsyncIterable<Buffer> };

/** A room's one entry. A rejection with an `S3Error` becomes the XML answer (JSON below `/minio/`); any other is a 500. */
export type RequestHandler = (request: IncomingRequest) => Promise<Answer>;

/** Milliseconds for a whole document: a client that sends a byte a minute would hold its memory for hours. */
const maxMs = 60_000;

/**
 * The whole body of a request that carries a document or a form. It counts as held until the request is answered.
 *
 * @throws what `tooLarge` makes above `maxBytes`; S3Error SlowDown where the server holds too much already, RequestTimeout
 */
export async function readWholeBody(
  body: BodySource,
  limits: { readonly maxBytes: number; readonly tooLarge: () => Error; readonly sender?: BodySender },
  now = () => performance.now(),
): Promise<Buffer> {
  const began = now();
  const chunks: Buffer[] = [];
  let size = 0;
  await body.pipe((chunk) => {
    size += chunk.length;
    if (size > limits.maxBytes) throw limits.tooLarge();
    if (now() - began > maxMs) throw new S3Error('RequestTimeout');
    body.hold?.(chunk.length, limits.sender ?? 'known');
    chunks.push(chunk);
    return undefined;
  });
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}

/** The rooms that answer requests; `other` are probes and metrics. */
export type RequestRoom = 's3' | 'sts' | 'admin' | 'console' | 'other';

/** What a policy decided about a request. The reason names the policy and its statement: never for strangers. */
export interface RecordedDecision {
  readonly action: string;
  /** `bucket/key`, `bucket`, or empty. */
  readonly resource: string;
  readonly decision: Decision;
}

/** Why a request was refused. */
export interface RecordedRefusal {
  readonly code: string;
  readonly message: string;
}

/** Whose proof (a token, a certificate, a password) a request for credentials brought, as far as it was checked. */
export interface RecordedBearer {
  readonly source: FederatedSubject['source'];
  /** The configuration that vouches. */
  readonly provider: string;
  readonly issuer?: string;
  /** As the provider knows them: `sub`, a DN, the fingerprint of a certificate. Undefined until the proof was found right. */
  readonly subject?: string;
  /** What a person recognises. */
  readonly name?: string;
  /** Those that decide and those that policies may use; never the token. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** Temporary credentials that were made. */
export interface RecordedGrant {
  readonly principal: TemporaryPrincipal;
  /** By name all that count for them when they are made, what is attached to users, groups and claims too; none of root, who needs none. */
  readonly policies: readonly string[];
  readonly roleArn?: string;
}

/**
 * Told by the rooms what they find out about a request. It is there only where somebody listens (`request.watch?.isFrom(…)`), so that
 * telling costs nothing else.
 */
export interface RequestWatch {
  /** Which room answers. */
  enters(room: RequestRoom): void;
  /** The operation as the documentation of S3 or STS names it, or an admin call's own name; and what it is about. */
  isFor(operation: string, target?: { readonly bucket?: string; readonly key?: string }): void;
  isFrom(principal: Principal): void;
  decided(asked: { readonly action: string; readonly resource: string }, decision: Decision): void;
  /** Of a room that answers refusals itself. Those that it throws are known. */
  refused(refusal: RecordedRefusal): void;
  /** Somebody asks for credentials by a proof of who they are; told again when more is known. */
  bearerIs(bearer: RecordedBearer): void;
  /** Credentials were made for somebody. */
  granted(grant: RecordedGrant): void;
}

/** A request that was answered, or given up. */
export interface FinishedRequest {
  /** As it came: its headers and query hold signatures and tokens, which no record may have. Its body was read. */
  readonly request: Pick<
    IncomingRequest,
    'requestId' | 'method' | 'rawPath' | 'rawQuery' | 'headers' | 'remoteAddress' | 'secure'
  >;
  readonly room: RequestRoom;
  /** Undefined where the request was refused before it was known. */
  readonly operation?: string | undefined;
  readonly bucket?: string | undefined;
  readonly key?: string | undefined;
  /** Undefined where nobody was found out: the signature was wrong, or not looked at. */
  readonly principal?: Principal | undefined;
  /** Who asked STS for credentials by a proof. */
  readonly bearer?: RecordedBearer | undefined;
  /** The credentials that STS made. */
  readonly granted?: RecordedGrant | undefined;
  /** In the order they were made; the first hundred. */
  readonly decisions: readonly RecordedDecision[];
  readonly decisionsLeftOut: number;
  readonly refusal?: RecordedRefusal | undefined;
  /** 0 where nothing was answered. */
  readonly status: number;
  readonly outcome: 'answered' | 'canceled' | 'broken';
  readonly responseHeaders: OutgoingHttpHeaders;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Milliseconds from the head of the request to the first byte of its answer; undefined where there was none. */
  readonly firstByteMs?: number | undefined;
  /** Milliseconds from the head of the request to the end of its answer. */
  readonly ms: number;
  /** Bytes of HTTP, heads included. */
  readonly received: number;
  readonly sent: number;
}

type RequestObserver = (finished: FinishedRequest) => void;

/**
 * Who wants to hear of requests that are over, in this thread. One of them is made per HTTP thread (`http-thread.ts`), and the console
 * has its own in the background thread:
 *
 *     const unsubscribe = events.subscribe((finished) => …);
 *
 * An observer is called in the turn in which the answer was handed to the connection: it does little, keeps nothing that is larger than
 * it needs, and never throws. Where nobody listens nothing is gathered: a request costs one look at `heard`. Requests that began before
 * the subscription are not told.
 */
export class RequestEvents {
  readonly #observers = new Set<RequestObserver>();
  /** Whether anybody listens. */
  heard = false;

  /** Answers how to end it. */
  subscribe(observer: RequestObserver): () => void {
    this.#observers.add(observer);
    this.heard = true;
    return () => {
      this.#observers.delete(observer);
      this.heard = this.#observers.size > 0;
    };
  }

  tell(finished: FinishedRequest): void {
    for (const observer of this.#observers) observer(finished);
  }
}
