import type { IncomingMessage } from 'node:http';
import type {
  IncomingRequest,
  FinishedRequest,
  RecordedBearer,
  RecordedDecision,
  RecordedGrant,
  RecordedRefusal,
  RequestApi,
  AuditContext,
} from './request.ts';
import type { SignatureKind } from '../../auth/condition-keys.ts';
import type { Decision, Principal } from '../../auth/principal.ts';

/** A request can delete a thousand objects, with a decision for each. */
const maxDecisions = 100;

/** Collects the facts about one request. */
export class RequestAudit implements AuditContext {
  readonly #message: IncomingMessage;
  readonly #startedAt = Date.now();
  readonly #began = performance.now();
  readonly #readBefore: number;
  readonly #sentBefore: number;
  #api: RequestApi = 'other';
  #operation: string | undefined;
  #target: { readonly bucket?: string; readonly key?: string } = {};
  #principal: Principal | undefined;
  #bearer: RecordedBearer | undefined;
  #signature: SignatureKind | undefined;
  #granted: RecordedGrant | undefined;
  #refusal: RecordedRefusal | undefined;
  #decided = 0;
  readonly #decisions: RecordedDecision[] = [];

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.#readBefore = message.socket.bytesRead;
    this.#sentBefore = message.socket.bytesWritten;
  }

  setApi(api: RequestApi): void {
    this.#api = api;
  }

  setOperation(operation: string, target: { readonly bucket?: string; readonly key?: string } = {}): void {
    this.#operation = operation;
    this.#target = target;
  }

  setPrincipal(principal: Principal): void {
    this.#principal = principal;
  }

  setBearer(bearer: RecordedBearer): void {
    this.#bearer = bearer;
  }

  setSignature(signature: SignatureKind): void {
    this.#signature = signature;
  }

  setGrant(grant: RecordedGrant): void {
    this.#granted = grant;
  }

  setError(refusal: RecordedRefusal): void {
    this.#refusal = refusal;
  }

  addDecision({ action, resource }: { readonly action: string; readonly resource: string }, decision: Decision): void {
    this.#decided += 1;
    if (this.#decisions.length < maxDecisions) this.#decisions.push({ action, resource, decision });
  }

  /** Call it after the answer was handed to the connection, or if there will be none. */
  finish(
    request: FinishedRequest['request'],
    end: Pick<FinishedRequest, 'status' | 'outcome' | 'firstByteMs' | 'responseHeaders'>,
  ): FinishedRequest {
    return {
      request,
      api: this.#api,
      operation: this.#operation,
      bucket: this.#target.bucket,
      key: this.#target.key,
      principal: this.#principal,
      bearer: this.#bearer,
      signature: this.#signature,
      granted: this.#granted,
      decisions: this.#decisions,
      decisionsLeftOut: this.#decided - this.#decisions.length,
      refusal: this.#refusal,
      ...end,
      startedAt: this.#startedAt,
      ms: performance.now() - this.#began,
      received: this.#received(request),
      sent: this.#message.socket.bytesWritten - this.#sentBefore,
    };
  }

  /** The socket reads the head, and some of the body, before the request is known. */
  #received({
    method,
    rawPath,
    rawQuery,
    headers,
  }: Pick<IncomingRequest, 'method' | 'rawPath' | 'rawQuery' | 'headers'>) {
    const { rawHeaders, complete, socket } = this.#message;
    // Spaces, line ends, the colon of each header, and `HTTP/1.1`.
    let head = method.length + rawPath.length + (rawQuery === '' ? 0 : rawQuery.length + 1) + 14;
    for (const part of rawHeaders) head += part.length + 2;
    const declared = Number(headers['content-length']);
    return head + (complete && declared >= 0 ? declared : socket.bytesRead - this.#readBefore);
  }
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
