import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type {
  FinishedRequest,
  RecordedBearer,
  RecordedDecision,
  RecordedGrant,
  RecordedObject,
  RecordedRefusal,
  RequestApi,
  AuditContext,
} from './request.ts';
import type { SignatureKind } from '../../auth/condition-keys.ts';
import type { Decision, Principal } from '../../auth/principal.ts';

/** A request can delete a thousand objects, with a decision for each. */
const maxDecisions = 100;

/** The part of a message that has the numbers of bytes that were read and sent. */
type CountedMessage = Pick<IncomingMessage, 'rawHeaders' | 'complete'> & {
  readonly socket: Pick<IncomingMessage['socket'], 'bytesRead' | 'bytesWritten'>;
};

/** How a request ended. */
type RequestEnd = Pick<FinishedRequest, 'status' | 'outcome' | 'firstByteMs' | 'responseHeaders'>;

/**
 * Collects the facts about one request, and is the finished request in the end: a copy of its fields was a third of the cost of an access log.
 * What few observers need is computed when it is read.
 */
export class RequestAudit implements AuditContext, FinishedRequest {
  readonly startedAt = Date.now();
  readonly decisions: RecordedDecision[] = [];
  objects: RecordedObject[] | undefined = undefined;
  api: RequestApi = 'other';
  operation: string | undefined = undefined;
  bucket: string | undefined = undefined;
  key: string | undefined = undefined;
  principal: Principal | undefined = undefined;
  bearer: RecordedBearer | undefined = undefined;
  signature: SignatureKind | undefined = undefined;
  granted: RecordedGrant | undefined = undefined;
  refusal: RecordedRefusal | undefined = undefined;
  refresh = false;
  status = 0;
  outcome: FinishedRequest['outcome'] = 'canceled';
  firstByteMs: number | undefined = undefined;
  responseHeaders: readonly string[] = [];
  ms = 0;
  readonly #message: CountedMessage;
  readonly #began = performance.now();
  readonly #readBefore: number;
  readonly #sentBefore: number;
  #request: FinishedRequest['request'] | undefined;
  #decided = 0;

  constructor(message: CountedMessage) {
    this.#message = message;
    this.#readBefore = message.socket.bytesRead;
    this.#sentBefore = message.socket.bytesWritten;
  }

  setApi(api: RequestApi): void {
    this.api = api;
  }

  setOperation(operation: string, target?: { readonly bucket?: string; readonly key?: string }): void {
    this.operation = operation;
    this.bucket = target?.bucket;
    this.key = target?.key;
  }

  setPrincipal(principal: Principal): void {
    this.principal = principal;
  }

  setBearer(bearer: RecordedBearer): void {
    this.bearer = bearer;
  }

  setSignature(signature: SignatureKind): void {
    this.signature = signature;
  }

  setGrant(grant: RecordedGrant): void {
    this.granted = grant;
  }

  setError(refusal: RecordedRefusal): void {
    this.refusal = refusal;
  }

  setRefresh(): void {
    this.refresh = true;
  }

  addObject(object: RecordedObject): void {
    this.objects ??= [];
    this.objects.push(object);
  }

  addDecision({ action, resource }: { readonly action: string; readonly resource: string }, decision: Decision): void {
    this.#decided += 1;
    if (this.decisions.length < maxDecisions) this.decisions.push({ action, resource, decision });
  }

  /** Call it after the answer was handed to the connection, or if there will be none. */
  finish(request: FinishedRequest['request'], end: RequestEnd): FinishedRequest {
    this.#request = request;
    this.status = end.status;
    this.outcome = end.outcome;
    this.firstByteMs = end.firstByteMs;
    this.responseHeaders = end.responseHeaders;
    this.ms = performance.now() - this.#began;
    return this;
  }

  get request(): FinishedRequest['request'] {
    if (this.#request === undefined) throw new Error('the request has not finished');
    return this.#request;
  }

  get decisionsLeftOut(): number {
    return this.#decided - this.decisions.length;
  }

  /** The socket reads the head, and some of the body, before the request is known. */
  get received(): number {
    const { method, rawPath, rawQuery, headers } = this.request;
    const { rawHeaders, complete, socket } = this.#message;
    // Spaces, line ends, the colon of each header, and `HTTP/1.1`.
    let head = method.length + rawPath.length + (rawQuery === '' ? 0 : rawQuery.length + 1) + 14;
    for (const part of rawHeaders) head += part.length + 2;
    const contentLength = Number(headers['content-length']);
    return head + (complete && contentLength >= 0 ? contentLength : socket.bytesRead - this.#readBefore);
  }

  get sent(): number {
    return this.#message.socket.bytesWritten - this.#sentBefore;
  }
}

/** Returns a header of a list in which names and values alternate. */
export function headerIn(list: readonly string[], name: string): string | undefined {
  for (let at = 0; at < list.length; at += 2) if (list[at] === name) return list[at + 1];
  return undefined;
}

export function headersOfList(list: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let at = 0; at < list.length; at += 2) headers[list[at] ?? ''] = list[at + 1] ?? '';
  return headers;
}

export function listOfHeaders(headers: OutgoingHttpHeaders): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [name, Array.isArray(value) ? value.join(', ') : String(value)],
  );
}

/** Operations with another name in MinIO than in the S3 documentation. */
const minioNames: Readonly<Record<string, string>> = {
  CreateBucket: 'PutBucket',
  CreateMultipartUpload: 'NewMultipartUpload',
  DeleteObjects: 'DeleteMultipleObjects',
  ListObjects: 'ListObjectsV1',
  ListParts: 'ListObjectParts',
  PostObject: 'PostPolicyBucket',
  UploadPart: 'PutObjectPart',
  UploadPartCopy: 'CopyObjectPart',
};

/** Returns the operation's name in MinIO's logs, traces and (in lower case) metrics. */
export function apiName(operation: string): string {
  return minioNames[operation] ?? operation;
}
