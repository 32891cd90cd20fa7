import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  IncomingRequest,
  FinishedRequest,
  RecordedBearer,
  RecordedDecision,
  RecordedGrant,
  RecordedRefusal,
  RequestRoom,
  RequestWatch,
} from './request.ts';
import type { Decision, Principal } from '../../auth/principal.ts';

/** A request that deletes a thousand objects is decided about a thousand times. */
const mostDecisions = 100;

/** Gathers what the rooms find out about one request. */
export class WatchedRequest implements RequestWatch {
  readonly #message: IncomingMessage;
  readonly #startedAt = Date.now();
  readonly #began = performance.now();
  readonly #readBefore: number;
  readonly #sentBefore: number;
  #room: RequestRoom = 'other';
  #operation: string | undefined;
  #target: { readonly bucket?: string; readonly key?: string } = {};
  #principal: Principal | undefined;
  #bearer: RecordedBearer | undefined;
  #granted: RecordedGrant | undefined;
  #refusal: RecordedRefusal | undefined;
  #decided = 0;
  readonly #decisions: RecordedDecision[] = [];

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.#readBefore = message.socket.bytesRead;
    this.#sentBefore = message.socket.bytesWritten;
  }

  enters(room: RequestRoom): void {
    this.#room = room;
  }

  isFor(operation: string, target: { readonly bucket?: string; readonly key?: string } = {}): void {
    this.#operation = operation;
    this.#target = target;
  }

  isFrom(principal: Principal): void {
    this.#principal = principal;
  }

  bearerIs(bearer: RecordedBearer): void {
    this.#bearer = bearer;
  }

  granted(grant: RecordedGrant): void {
    this.#granted = grant;
  }

  refused(refusal: RecordedRefusal): void {
    this.#refusal = refusal;
  }

  decided({ action, resource }: { readonly action: string; readonly resource: string }, decision: Decision): void {
    this.#decided += 1;
    if (this.#decisions.length < mostDecisions) this.#decisions.push({ action, resource, decision });
  }

  /** To be called when the answer is with the connection, or there will be none. */
  finish(
    request: FinishedRequest['request'],
    response: ServerResponse,
    end: Pick<FinishedRequest, 'status' | 'outcome' | 'firstByteMs'>,
  ): FinishedRequest {
    return {
      request,
      room: this.#room,
      operation: this.#operation,
      bucket: this.#target.bucket,
      key: this.#target.key,
      principal: this.#principal,
      bearer: this.#bearer,
      granted: this.#granted,
      decisions: this.#decisions,
      decisionsLeftOut: this.#decided - this.#decisions.length,
      refusal: this.#refusal,
      ...end,
      responseHeaders: response.getHeaders(),
      startedAt: this.#startedAt,
      ms: performance.now() - this.#began,
      received: this.#received(request),
      sent: this.#message.socket.bytesWritten - this.#sentBefore,
    };
  }

  /** The socket had read the head, and with it some of the body, before anybody could look. */
  #received({
    method,
    rawPath,
    rawQuery,
    headers,
  }: Pick<IncomingRequest, 'method' | 'rawPath' | 'rawQuery' | 'headers'>) {
    const { rawHeaders, complete, socket } = this.#message;
    // Spaces, line ends, the colon of each header and `HTTP/1.1`.
    let head = method.length + rawPath.length + (rawQuery === '' ? 0 : rawQuery.length + 1) + 14;
    for (const part of rawHeaders) head += part.length + 2;
    const declared = Number(headers['content-length']);
    return head + (complete && declared >= 0 ? declared : socket.bytesRead - this.#readBefore);
  }
}

/** Operations that MinIO knows by another name than the S3 documentation. */
const minioNames: Readonly<Record<string, string>> = {
  CreateBucket: 'PutBucket',
  CreateMultipartUpload: 'NewMultipartUpload',
  DeleteObjects: 'DeleteMultipleObjects',
  ListObjects: 'ListObjectsV1',
  ListParts: 'ListObjectParts',
  UploadPart: 'PutObjectPart',
  UploadPartCopy: 'CopyObjectPart',
};

/** The name of an operation by which MinIO's logs, traces and, in lower case, metrics know it. */
export function apiName(operation: string): string {
  return minioNames[operation] ?? operation;
}
