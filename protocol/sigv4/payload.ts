import type { RequestHeaders } from './signed-request.ts';

/** What `x-amz-content-sha256` says about the body. */
export type PayloadKind =
  /** Nothing covers the body (`UNSIGNED-PAYLOAD`, or no header at all). */
  | { readonly kind: 'unsigned' }
  /** 64 hexadecimal digits in lower case, that the SHA-256 of the body must equal. */
  | { readonly kind: 'sha256'; readonly sha256: string }
  /** aws-chunked framing: chunk signatures, a trailer, or both. */
  | { readonly kind: 'streaming'; readonly signed: boolean; readonly trailer: boolean };

export function payloadKind(_headers: RequestHeaders): PayloadKind {
  throw new Error('not yet');
}
