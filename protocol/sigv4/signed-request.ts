/** The parts of a request that a signature covers, as they go over the wire. */
export interface SignedRequest {
  readonly method: string;
  /** Percent-encoded as sent, beginning with `/`. */
  readonly rawPath: string;
  /** Without `?`, as sent. */
  readonly rawQuery: string;
  /** Names in lower case. */
  readonly headers: RequestHeaders;
}

export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The scope of a signing key: `<date>/<region>/<service>/aws4_request`. */
export interface SignatureScope {
  /** `YYYYMMDD`. */
  readonly date: string;
  readonly region: string;
  readonly service: string;
}

/** The statements of a request about its signature. They are not verified yet. */
export interface SignatureClaim {
  readonly kind: 'header' | 'presigned';
  readonly accessKey: string;
  readonly scope: SignatureScope;
  /** Names in lower case, in the order of the request. */
  readonly signedHeaders: readonly string[];
  /** 64 hexadecimal digits. */
  readonly signature: string;
  readonly timestamp: Date;
  /** The lifetime of a presigned URL in seconds, 1 to 604800. */
  readonly expires?: number;
  readonly sessionToken?: string;
  /**
   * `x-amz-content-sha256` as sent; `UNSIGNED-PAYLOAD` for a presigned URL without one. It is undefined for a header signature without one,
   * which only services other than S3 (STS) allow. Their caller passes the hash of the body to `verifySignature`.
   */
  readonly payloadHash?: string;
}

export interface Credentials {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly sessionToken?: string;
}

/** Returns the value of a header that must not repeat. Several values are joined as node joins them. */
export function headerValue(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' || value === undefined ? value : value.join(',');
}
