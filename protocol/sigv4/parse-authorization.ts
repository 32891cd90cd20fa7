import type { SignatureClaim, SignedRequest } from './signed-request.ts';

/** What the request says about its signature; undefined when it is anonymous. Throws S3Error when it is malformed. */
export function parseAuthorization(_request: SignedRequest): SignatureClaim | undefined {
  throw new Error('not yet');
}
