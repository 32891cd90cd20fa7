import { notReady, reconciling, stalled } from '../reconcile/conditions.ts';
import type { BucketOutcome } from '../reconcile/bucket-controller.ts';
import { S3Refusal, S3Unreachable } from './s3-request.ts';

/** Milliseconds until the next try: soon where it may pass by itself, later where a person must act. */
const retryAfter = { passing: 15_000, person: 120_000 } as const;

const passingStatus = new Set([408, 409, 429]);
const credentialCodes = new Set(['AccessDenied', 'InvalidAccessKeyId', 'SignatureDoesNotMatch']);

/** Reasons by S3's code, where a person has something of the resource to mend. */
const reasons: Readonly<Record<string, string>> = {
  MalformedPolicy: 'InvalidPolicy',
  InvalidTag: 'InvalidTags',
  InvalidBucketName: 'InvalidBucketName',
  'KMS.NotFoundException': 'KeyNotFound',
  BucketNotEmpty: 'BucketNotEmpty',
};

/** The conditions of a pass that failed; `doing` says at what: `the policy differs and cannot be set`. Rethrows what is no answer of S3. */
export function explainFailure(error: unknown, tenant: string, doing: string): BucketOutcome {
  if (error instanceof S3Unreachable) {
    const message = `the tenant "${tenant}" cannot be reached: ${error.message}`;
    return passing('TenantUnreachable', message);
  }
  if (!(error instanceof S3Refusal)) throw error;
  if (credentialCodes.has(error.code)) {
    const message = `the tenant "${tenant}" refuses its root credentials (${error.code}): it has not taken up those of its Secret yet, or they were changed in it by hand`;
    return passing('CredentialsRefused', message);
  }
  const message = `${doing}: ${error.message} (${error.code})`;
  const reason = reasons[error.code];
  if (reason === undefined && (error.status >= 500 || passingStatus.has(error.status)) && error.status !== 501) {
    return passing('TenantUnavailable', message);
  }
  const named = reason ?? 'RefusedByTenant';
  return { findings: [notReady(named, message), stalled(named, message)], afterMs: retryAfter.person };
}

function passing(reason: string, message: string): BucketOutcome {
  return { findings: [notReady(reason, message), reconciling(reason, message)], afterMs: retryAfter.passing };
}
