import type { Credentials, SignedRequest } from './signed-request.ts';

export interface Signing {
  readonly region: string;
  readonly service: string;
  readonly now: Date;
  /** Hex SHA-256 of the body, `UNSIGNED-PAYLOAD` or a `STREAMING-…` name. */
  readonly payloadHash: string;
}

/** The headers to add: `x-amz-date`, `x-amz-content-sha256`, `x-amz-security-token`, `authorization`. `host` must be there. */
export function signRequest(
  _request: SignedRequest,
  _credentials: Credentials,
  _signing: Signing,
): Record<string, string> {
  throw new Error('not yet');
}
