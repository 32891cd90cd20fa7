import { computeSignature } from '../../protocol/sigv4/signature.ts';
import { deriveSigningKey, formatScope } from '../../protocol/sigv4/signing-key.ts';
import { formatTimestamp } from '../../protocol/sigv4/timestamp.ts';
import { canonicalHeaders, hashCanonicalRequest } from '../../protocol/sigv4/canonical-request.ts';
import { canonicalQuery } from '../../protocol/sigv4/canonical-query.ts';

/** A server under load and the credentials for it. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
}

type Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';

export interface PlainRequest {
  readonly method: Method;
  /** The path; its characters need no encoding. */
  readonly path: string;
  /** The encoded query; '' for none. */
  readonly query: string;
  /** The size of the body in bytes. */
  readonly length: number;
  /** The hex SHA-256 of the body. Without it the body is not signed. */
  readonly payloadHash?: string;
  /** Header fields that are not signed, with line ends. */
  readonly fields?: string;
}

const signedHeaders = ['host', 'x-amz-content-sha256', 'x-amz-date'];
const unsignedPayload = 'UNSIGNED-PAYLOAD';

/**
 * Makes the heads of requests with signatures in their headers, all with the same time, which servers accept for 15 minutes. The signing
 * key is derived once, so that each head costs one hash and one HMAC.
 */
export class RequestSigner {
  readonly #host: string;
  readonly #accessKey: string;
  readonly #timestamp: string;
  readonly #scope: { readonly date: string; readonly region: string; readonly service: string };
  readonly #key: Buffer;

  constructor(endpoint: Endpoint, now: Date) {
    this.#host = `${endpoint.host}:${endpoint.port}`;
    this.#accessKey = endpoint.accessKey;
    this.#timestamp = formatTimestamp(now);
    this.#scope = { date: this.#timestamp.slice(0, 8), region: endpoint.region, service: 's3' };
    this.#key = deriveSigningKey(endpoint.secretKey, this.#scope);
  }

  /** Returns the request line, the header fields and the empty line. */
  head(request: PlainRequest): string {
    const payloadHash = request.payloadHash ?? unsignedPayload;
    const headers = { host: this.#host, 'x-amz-content-sha256': payloadHash, 'x-amz-date': this.#timestamp };
    const signature = computeSignature(
      this.#key,
      this.#timestamp,
      this.#scope,
      hashCanonicalRequest({
        method: request.method,
        path: request.path,
        query: canonicalQuery(request.query),
        headerLines: canonicalHeaders(headers, signedHeaders),
        signedHeaders,
        payloadHash,
      }),
    );
    const target = request.query === '' ? request.path : `${request.path}?${request.query}`;
    const length = hasBody(request.method) ? `Content-Length: ${request.length}\r\n` : '';
    return (
      `${request.method} ${target} HTTP/1.1\r\nHost: ${this.#host}\r\n${length}` +
      `X-Amz-Content-Sha256: ${payloadHash}\r\nX-Amz-Date: ${this.#timestamp}\r\n` +
      `${request.fields ?? ''}Authorization: AWS4-HMAC-SHA256 Credential=${this.#accessKey}/${formatScope(this.#scope)}, ` +
      `SignedHeaders=${signedHeaders.join(';')}, Signature=${signature}\r\n\r\n`
    );
  }
}

function hasBody(method: Method): boolean {
  return method === 'PUT' || method === 'POST';
}
