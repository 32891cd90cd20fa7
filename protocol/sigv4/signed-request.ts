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

/** Returns the value of a header that must not repeat. Several values are joined as node joins them. */
export function headerValue(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' || value === undefined ? value : value.join(',');
}
