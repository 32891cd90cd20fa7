import { notReady, reconciling, stalled } from '../reconcile/conditions.ts';
import type { DeclaredOutcome } from '../reconcile/declared-controller.ts';
import { DeclaredProblem, TenantRefusal, TenantUnreachable } from './tenant-refusal.ts';

/** Milliseconds until the next try: soon where it may pass by itself, later where a person must act. */
const retryAfter = { passing: 15_000, person: 120_000 } as const;

const passingStatus = new Set([408, 409, 429]);
const credentialCodes = new Set(['AccessDenied', 'InvalidAccessKeyId', 'SignatureDoesNotMatch']);

/** Reasons by the server's code, where a person has something of the resource to mend. */
const reasons: Readonly<Record<string, string>> = {
  MalformedPolicy: 'InvalidPolicy',
  InvalidTag: 'InvalidTags',
  InvalidBucketName: 'InvalidBucketName',
  'KMS.NotFoundException': 'KeyNotFound',
  BucketNotEmpty: 'BucketNotEmpty',
  XMinioMalformedIAMPolicy: 'InvalidPolicy',
  XMinioAdminAccessKeyInUse: 'AccessKeyTaken',
  XMinioAdminInvalidAccessKey: 'InvalidAccessKey',
  XMinioAdminInvalidSecretKey: 'InvalidSecretKey',
};

/** What is missing may be on its way: another resource makes it, or a person does. */
const awaited: Readonly<Record<string, string>> = {
  XMinioAdminNoSuchPolicy: 'PolicyNotFound',
  XMinioAdminNoSuchUser: 'UserNotFound',
  XMinioAdminNoSuchGroup: 'GroupNotFound',
  XMinioAdminPolicyInUse: 'PolicyInUse',
};

/** The conditions of a pass that failed; `doing` says at what: `the policy differs and cannot be set`. Rethrows what is no answer of the server. */
export function explainFailure(error: unknown, tenant: string, doing: string): DeclaredOutcome {
  if (error instanceof TenantUnreachable) {
    const message = `the tenant "${tenant}" cannot be reached: ${error.message}`;
    return passing('TenantUnreachable', message);
  }
  if (error instanceof DeclaredProblem) return forPerson(error.reason, error.message);
  if (!(error instanceof TenantRefusal)) throw error;
  if (credentialCodes.has(error.code)) {
    const message = `the tenant "${tenant}" refuses its root credentials (${error.code}): it has not taken up those of its Secret yet, or they were changed in it by hand`;
    return passing('CredentialsRefused', message);
  }
  const message = `${doing}: ${error.message} (${error.code})`;
  const awaitedReason = awaited[error.code];
  if (awaitedReason !== undefined) return passing(awaitedReason, message);
  const reason = reasons[error.code];
  if (reason === undefined && (error.status >= 500 || passingStatus.has(error.status)) && error.status !== 501) {
    return passing('TenantUnavailable', message);
  }
  return forPerson(reason ?? 'RefusedByTenant', message);
}

function forPerson(reason: string, message: string): DeclaredOutcome {
  return { findings: [notReady(reason, message), stalled(reason, message)], afterMs: retryAfter.person };
}

function passing(reason: string, message: string): DeclaredOutcome {
  return { findings: [notReady(reason, message), reconciling(reason, message)], afterMs: retryAfter.passing };
}
