import type { SignatureClaim, SignedRequest } from './signed-request.ts';
import type { SigningKeys } from './signing-key.ts';

export interface Verification {
  readonly now: Date;
  /** The region of this store; absent or empty: any region is good. */
  readonly region?: string;
  /** Services that may be named by the scope, e.g. `['s3']`, `['sts']`. */
  readonly services: readonly string[];
  /** Admin clients leave the region of the scope empty. */
  readonly allowEmptyRegion?: boolean;
  /** Hex SHA-256 of the body, where the request carries no `x-amz-content-sha256` (STS). */
  readonly bodyHash?: string;
  readonly signingKeys: SigningKeys;
}

/** What the chunks of a streaming body chain on. */
export interface VerifiedSignature {
  readonly claim: SignatureClaim;
  readonly signingKey: Buffer;
}

/** Throws S3Error when the signature does not hold. */
export function verifySignature(
  _request: SignedRequest,
  _claim: SignatureClaim,
  _secretKey: string,
  _verification: Verification,
): VerifiedSignature {
  throw new Error('not yet');
}
