import { S3Error } from '../s3/s3-error.ts';
import type { SignatureClaim } from './signed-request.ts';

const allowedSkew = 15 * 60_000;

/** Header signatures are good for 15 minutes either way; presigned URLs from then until they expire. */
export function checkTime(claim: SignatureClaim, now: Date): void {
  const age = now.getTime() - claim.timestamp.getTime();
  if (claim.kind === 'header') {
    if (Math.abs(age) <= allowedSkew) return;
    throw new S3Error('RequestTimeTooSkewed', undefined, {
      details: {
        RequestTime: claim.timestamp.toISOString(),
        ServerTime: now.toISOString(),
        MaxAllowedSkewMilliseconds: String(allowedSkew),
      },
    });
  }
  if (age < -allowedSkew) {
    throw new S3Error('AccessDenied', `Request is not valid before ${claim.timestamp.toISOString()}.`);
  }
  const expires = claim.timestamp.getTime() + (claim.expires ?? 0) * 1_000;
  if (now.getTime() <= expires) return;
  throw new S3Error('AccessDenied', 'Request has expired', {
    details: { Expires: new Date(expires).toISOString(), ServerTime: now.toISOString() },
  });
}

/** Clients learn the right region from the element `Region` of the answer, and try again with it. */
export function checkScope(
  claim: SignatureClaim,
  expected: { readonly region?: string; readonly services: readonly string[]; readonly allowEmptyRegion?: boolean },
): void {
  const { region, service } = claim.scope;
  const code = claim.kind === 'header' ? 'AuthorizationHeaderMalformed' : 'AuthorizationQueryParametersError';
  const what = claim.kind === 'header' ? 'The authorization header is malformed' : 'The presigned URL is not valid';
  if (!expected.services.includes(service)) {
    throw new S3Error(
      code,
      `${what}; the service '${service.slice(0, 64)}' is wrong; expecting '${expected.services.join("' or '")}'.`,
    );
  }
  if (region === '') {
    if (expected.allowEmptyRegion === true) return;
    throw new S3Error(code, `${what}; the region is empty; expecting '${expected.region || 'us-east-1'}'.`, {
      details: { Region: expected.region || 'us-east-1' },
    });
  }
  if (expected.region === undefined || expected.region === '' || region === expected.region) return;
  throw new S3Error(code, `${what}; the region '${region.slice(0, 64)}' is wrong; expecting '${expected.region}'.`, {
    details: { Region: expected.region },
  });
}
