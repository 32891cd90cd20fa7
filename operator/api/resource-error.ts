import { CodedError } from '../../protocol/coded-error.ts';

/** Reasons of conditions: part of what users and alerts rely on. */
type ResourceErrorCode =
  // Another owner has an object of the name that the operator needs.
  | 'Conflict'
  // The API server refuses an object. It refuses the same object again, so only a change of the resource helps.
  | 'ObjectRefused'
  // The cluster does not know the kind of an object: a program that brings it is not installed.
  | 'KindUnknown'
  // An object of the name is still being deleted. The deletion ends by itself.
  | 'StillBeingDeleted'
  // A resource cannot be rendered.
  | 'SecretNotFound'
  | 'SecretNotAllowed'
  | 'SecretKeyMissing'
  | 'SecretInvalid'
  | 'ConfigMapNotFound'
  | 'ConfigMapKeyMissing'
  | 'KMSConfigNotFound'
  | 'KMSConfigDeleted'
  | 'InvalidSettings'
  | 'NotAllowed'
  | 'KeyPrefixOverlap'
  | 'CertificateMissing'
  // A managed resource does not fit what its tenant has.
  | 'AccessKeyTaken'
  | 'CredentialsDiffer'
  | 'BucketNotEmpty'
  | 'Expired'
  | 'IdentityProviderNotFound'
  | 'InvalidSpec'
  | 'ServiceAccountsNotAccepted'
  | 'TierDiffers';

/**
 * A resource cannot be made as its spec says. The code becomes the reason of a condition; the message says what to do. It is not a
 * `KubeError`, which a retry may solve: here the user must act.
 */
export class ResourceError extends CodedError<ResourceErrorCode> {
  override readonly name = 'ResourceError';
}

/** True when an object outside the operator's control is in the way. A retry does not help; the user has to act. */
export function isConflict(error: unknown): error is ResourceError & { readonly code: ConflictCode } {
  return error instanceof ResourceError && conflictCodes.has(error.code);
}

type ConflictCode = 'Conflict' | 'ObjectRefused' | 'KindUnknown';

const conflictCodes: ReadonlySet<ResourceErrorCode> = new Set<ConflictCode>([
  'Conflict',
  'ObjectRefused',
  'KindUnknown',
]);
