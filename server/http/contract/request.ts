import type { X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { BodySource } from '../../objects/contract/body-source.ts';
import type { Chunks } from '../../streams/chunks.ts';
import type { BodySender } from '../../streams/body-memory.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { SignatureKind } from '../../auth/condition-keys.ts';
import type { FederatedSubject } from '../../auth/identities/subject.ts';
import type { Decision, Principal, TemporaryPrincipal } from '../../auth/principal.ts';

/**
 * A request as it arrived. Its target is split; nothing else is interpreted. The listener makes it, and the S3, STS and admin APIs read it.
 */
export interface IncomingRequest {
  readonly requestId: string;
  readonly method: string;
  /** The path as sent, percent-encoded, because signatures cover these bytes. */
  readonly rawPath: string;
  /** The query string as sent, without `?`. */
  readonly rawQuery: string;
  /** Names in lower case; repeated values are joined with `, `. */
  readonly headers: IncomingHttpHeaders;
  /** The addressing of buckets by the Host; undefined for path style. */
  readonly hostStyle?: HostStyle | undefined;
  /** Can be read once. The read lets a client go on that waits with `Expect: 100-continue`; an unread body is fine. */
  readonly body: BodySource;
  readonly secure: boolean;
  /** Returns the version of TLS, e.g. `1.3`; absent for a connection without TLS. */
  readonly tlsVersion?: (() => string | undefined) | undefined;
  readonly remoteAddress: string;
  /** The client's certificate; present if the server requests certificates. */
  readonly clientCertificate?: (() => ClientCertificate | undefined) | undefined;
  /** Gets the operation for metrics, when it is known. */
  readonly measure?: { isFor(operation: string, bucket?: string): void } | undefined;
  /** Collects facts about the request for the audit log and traces; absent without a subscriber. */
  readonly audit?: AuditContext | undefined;
}

/** A Host that addresses buckets otherwise than the path does. */
export type HostStyle =
  /** Virtual-host style: the Host names the bucket, in lower case and still unchecked, and the whole path is the key. */
  | { readonly kind: 'bucket'; readonly bucket: string }
  /** The Host names a bucket where this server has no virtual hosts, so that the path cannot be understood. */
  | { readonly kind: 'unserved'; readonly issue: string }
  | { readonly kind: 'malformed'; readonly issue: string };

export interface ClientCertificate {
  readonly certificate: X509Certificate;
  /** The verification error; absent if the certificate is trusted. */
  readonly issue?: string;
}

/** The answer of an API. The listener writes it and adds request IDs, `Date` and `Server`. */
export interface Answer {
  readonly status: number;
  /** Names in lower case. The body sets `content-length`, except for an answer to HEAD. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AnswerBody;
}

export type AnswerBody =
  | { readonly kind: 'empty' }
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  /** Exactly `size` bytes. If a chunk fails, the connection is closed, so that the client does not take a part for the whole. */
  | { readonly kind: 'chunks'; readonly size: number; readonly chunks: Chunks }
  /** Bytes of an unknown number. If a chunk fails, the connection is closed before the end of the body. */
  | { readonly kind: 'stream'; readonly chunks: Chunks }
  /**
   * A text that may take minutes. After some seconds without it, status and headers are sent, and spaces keep the connection alive.
   * `result` never rejects: the text then has the error. `early` precedes the first space.
   */
  | { readonly kind: 'slow'; readonly early: Buffer; readonly result: Promise<Answer> }
  /**
   * Lines without an end, in chunks of whole lines, until the client disconnects, which `signal` reports. Status and headers are sent at
   * once, and spaces between lines keep the connection alive.
   */
  | { readonly kind: 'endless'; readonly chunks: (signal: AbortSignal) => AsyncIterable<Buffer> };

/** Returns the path of the resource as path style has it, percent-encoded: `/bucket/key` also for virtual-host style. */
export function resourcePath({ rawPath, hostStyle }: Pick<IncomingRequest, 'rawPath' | 'hostStyle'>): string {
  return hostStyle?.kind === 'bucket' ? `/${hostStyle.bucket}${rawPath}` : rawPath;
}

/** The entry point of an API. A rejection with an `S3Error` becomes the XML answer (JSON below `/minio/`); any other becomes a 500. */
export type RequestHandler = (request: IncomingRequest) => Promise<Answer>;

/** Milliseconds for a whole document. Otherwise a client that sends a byte per minute would hold memory for hours. */
const maxMs = 60_000;

/**
 * Reads the whole body of a request with a document or a form. Its bytes count as held until the request is answered.
 *
 * @throws the error of `tooLarge` above `maxBytes`; S3Error SlowDown if the server holds too much, RequestTimeout
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

/** The APIs that answer requests; `other` are probes and metrics. */
export type RequestApi = 's3' | 'sts' | 'admin' | 'console' | 'other';

/** A decision about a request. Its reason names the policy and the statement, which clients must not see. */
export interface RecordedDecision {
  readonly action: string;
  /** `bucket/key`, `bucket`, or empty. */
  readonly resource: string;
  readonly decision: Decision;
}

/** An object of a request that names many in its body, and what came of it. */
export interface RecordedObject {
  readonly key: string;
  /** The version that was removed or made, or else the one that was named. */
  readonly versionId?: string | undefined;
  /** The code of a refusal. */
  readonly refusal?: string;
}

/** The error that ended a request. */
export interface RecordedRefusal {
  readonly code: string;
  readonly message: string;
}

/** The proof (a token, a certificate, a password) that a request for credentials has, as far as it was checked. */
export interface RecordedBearer {
  readonly source: FederatedSubject['source'];
  /** The provider's configuration. */
  readonly provider: string;
  readonly issuer?: string;
  /** The provider's ID: `sub`, a DN, the fingerprint of a certificate. Undefined until the proof was verified. */
  readonly subject?: string;
  /** The name that people recognise. */
  readonly name?: string;
  /** The claims that decide, and those that policies can use; never the token. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** Temporary credentials that STS made. */
export interface RecordedGrant {
  readonly principal: TemporaryPrincipal;
  /** The names of all policies of the subject at that time, attached ones included; none for root. */
  readonly policies: readonly string[];
  readonly roleArn?: string;
}

/**
 * Collects facts about a request for its audit entry and trace. APIs call it as `request.audit?.setPrincipal(…)`; it is absent without a
 * subscriber, and then costs nothing.
 */
export interface AuditContext {
  /** Sets the API that answers. */
  setApi(api: RequestApi): void;
  /** Sets the operation, by its name in the documentation of S3 or STS or the name of an admin call, and its target. */
  setOperation(operation: string, target?: { readonly bucket?: string; readonly key?: string }): void;
  setPrincipal(principal: Principal): void;
  /** Adds an object that the body named. Their number is bounded by the body. */
  addObject(object: RecordedObject): void;
  addDecision(asked: { readonly action: string; readonly resource: string }, decision: Decision): void;
  /** Sets the error, for an API that answers its errors itself. Thrown errors are recorded by the listener. */
  setError(refusal: RecordedRefusal): void;
  /** Sets the proof of a request for credentials. A later call adds facts. */
  setBearer(bearer: RecordedBearer): void;
  /** Sets the signature of a form. Those of headers and queries are read from the request. */
  setSignature(signature: SignatureKind): void;
  /** Sets the credentials that were made. */
  setGrant(grant: RecordedGrant): void;
}

/** A request that was answered or aborted. Some fields are computed when they are read. */
export interface FinishedRequest {
  /** The request. Its headers and query have signatures and tokens, which must not get into records. Its body has been read. */
  readonly request: Pick<
    IncomingRequest,
    'requestId' | 'method' | 'rawPath' | 'rawQuery' | 'headers' | 'remoteAddress' | 'secure'
  >;
  readonly api: RequestApi;
  /** Undefined if the request failed before it was known. */
  readonly operation?: string | undefined;
  readonly bucket?: string | undefined;
  readonly key?: string | undefined;
  /** Undefined if the signature was wrong or not checked. */
  readonly principal?: Principal | undefined;
  /** The proof of a request for credentials. */
  readonly bearer?: RecordedBearer | undefined;
  /** The signature of a form. */
  readonly signature?: SignatureKind | undefined;
  /** The credentials that STS made. */
  readonly granted?: RecordedGrant | undefined;
  /** The objects that the body named. */
  readonly objects?: readonly RecordedObject[];
  /** The first hundred decisions, in order. */
  readonly decisions: readonly RecordedDecision[];
  readonly decisionsLeftOut: number;
  readonly refusal?: RecordedRefusal | undefined;
  /** True for a read that an open page of the console repeats by itself. */
  readonly refresh?: boolean;
  /** 0 without an answer. */
  readonly status: number;
  readonly outcome: 'answered' | 'canceled' | 'broken';
  /** Names in lower case and values alternate. Headers that Node adds may be absent, such as `date`. Empty without an answer. */
  readonly responseHeaders: readonly string[];
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Milliseconds from the request's head to the first byte of the answer; undefined without an answer. */
  readonly firstByteMs?: number | undefined;
  /** Milliseconds from the request's head to the end of the answer. */
  readonly ms: number;
  /** Bytes of HTTP with heads. */
  readonly received: number;
  readonly sent: number;
}

type RequestObserver = (finished: FinishedRequest) => void;

/**
 * The subscribers to finished requests of this thread. Each HTTP thread has one (`http-thread.ts`), and the console has its own in the
 * background thread: `const unsubscribe = events.subscribe((finished) => …)`.
 *
 * An observer runs in the turn in which the answer was handed to the connection, and reads `received` and `sent` in this turn: they are
 * counts of the connection. It must be short, keep little, and not throw. Without a subscriber nothing is collected: a request costs one
 * read of `hasSubscribers`. Requests that began before a subscription are not reported.
 */
export class RequestEvents {
  readonly #observers = new Set<RequestObserver>();
  /** True while there are subscribers. */
  hasSubscribers = false;

  /** Returns the function that ends the subscription. */
  subscribe(observer: RequestObserver): () => void {
    this.#observers.add(observer);
    this.hasSubscribers = true;
    return () => {
      this.#observers.delete(observer);
      this.hasSubscribers = this.#observers.size > 0;
    };
  }

  emit(finished: FinishedRequest): void {
    for (const observer of this.#observers) observer(finished);
  }
}
