import { parseNewPolicy } from '../../protocol/policy/parse-policy.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { checkDuration, parseDuration } from './credential-lifetime.ts';
import { StsError } from './sts-error.ts';
import type { StsParameters } from './sts-parameters.ts';

/** What every action lets its caller say of the session that begins. */
export interface SessionRequest {
  /** Seconds, 900 to 31,536,000. */
  readonly durationSeconds?: number;
  /** Inline session policy (JSON), of at most 2,048 characters. */
  readonly policy?: string;
  /** The label under which the credentials can be revoked together (`TokenRevokeType`). */
  readonly revokeType?: string;
}

/** Characters. */
const longestPolicy = 2_048;
const longestRevokeType = 128;

/**
 * What of STS bounds a session and is not evaluated here. Without it the credentials would have more rights than their caller asked for.
 * All else of STS says who asks and why, and gives nothing.
 */
const bounds = /^(?:PolicyArns|Tags|TransitiveTagKeys|ProvidedContexts)(?:\.|$)/;

function refuseBounds({ names }: StsParameters): void {
  for (const name of names) {
    if (!bounds.test(name)) continue;
    throw new StsError(
      'NotImplemented',
      `The parameter ${name.slice(0, 64)} is not implemented; bound the session by Policy.`,
    );
  }
}

/** Throws for a duration that is no number, and for bounds that are not evaluated; the rest is for `checkSession`. */
export function sessionRequest(parameters: StsParameters): SessionRequest {
  refuseBounds(parameters);
  const durationSeconds = parseDuration(parameters.optional('DurationSeconds'));
  const policy = parameters.optional('Policy');
  const revokeType = parameters.optional('TokenRevokeType');
  return {
    ...(durationSeconds === undefined ? {} : { durationSeconds }),
    ...(policy === undefined ? {} : { policy }),
    ...(revokeType === undefined ? {} : { revokeType }),
  };
}

/** Throws an `StsError` for what is out of bounds. */
export function checkSession({ durationSeconds, policy, revokeType }: SessionRequest): void {
  if (durationSeconds !== undefined) checkDuration(durationSeconds);
  if (policy !== undefined) checkPolicy(policy);
  if (revokeType !== undefined && revokeType.length > longestRevokeType) {
    throw new StsError('InvalidParameterValue', `TokenRevokeType is longer than ${longestRevokeType} characters.`);
  }
}

function checkPolicy(policy: string): void {
  if (policy.length > longestPolicy) {
    throw new StsError('InvalidParameterValue', `Policy is longer than ${longestPolicy} characters.`);
  }
  try {
    parseNewPolicy(policy);
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    throw new StsError('MalformedPolicyDocument', `Policy is not a valid policy document: ${error.message}`, {
      cause: error,
    });
  }
}
