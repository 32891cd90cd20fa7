import { FormatError } from '../../protocol/format-error.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { IdentityError, type IdentityErrorCode } from '../auth/identity-error.ts';
import { RequestError } from '../../protocol/request-error.ts';

/** Error codes of the admin API with their status; other errors are `S3Error`s. */
const adminErrorCodes = {
  XMinioAdminNoSuchUser: 404,
  XMinioAdminNoSuchGroup: 404,
  XMinioAdminNoSuchPolicy: 404,
  XMinioAdminNoSuchAccessKey: 404,
  XMinioAdminNoSuchJob: 404,
  NoSuchSourceBucket: 404,
  NoSuchTargetBucket: 404,
  XMinioAdminAccessKeyInUse: 409,
  XMinioAdminVersionMismatch: 426,
  XMinioAdminInvalidAccessKey: 400,
  XMinioAdminInvalidSecretKey: 400,
  XMinioAdminInvalidArgument: 400,
  XMinioAdminGroupNotEmpty: 400,
  XMinioAdminPolicyInUse: 400,
  XMinioAdminPolicyChangeAlreadyApplied: 400,
  XMinioMalformedIAMPolicy: 400,
  XMinioAdminConfigIDPCfgNameAlreadyExists: 400,
  XMinioAdminConfigIDPCfgNameDoesNotExist: 400,
  XMinioAdminNoSuchConfigTarget: 400,
  XMinioAdminConfigEnvOverridden: 400,
  XMinioAdminConfigBadJSON: 400,
  XMinioConfigError: 400,
  XMinioSpeedtestInsufficientCapacity: 507,
  SlowDown: 503,
  XMinioKMSKeyExists: 409,
  XMinioKMSInvalidKeyName: 400,
  XMinioKMSKeyNotFound: 404,
  KMSNotSupported: 501,
  KMSNotConfigured: 501,
  KMSNotPermitted: 403,
  KMSUnavailable: 503,
  XCofferInvalidRequest: 400,
  XCofferRefused: 409,
} as const;

type AdminErrorCode = keyof typeof adminErrorCodes;

/** Makes an error of the rules of administration. `message` says what the administrator can do. */
export function adminError(code: AdminErrorCode, message: string, options?: ErrorOptions): RequestError {
  return new RequestError('admin', code, adminErrorCodes[code], message, options);
}

export function isAdminError(error: unknown): error is RequestError {
  return error instanceof RequestError && error.api === 'admin';
}

const identityCodes: Readonly<Record<IdentityErrorCode, AdminErrorCode>> = {
  'no-such-user': 'XMinioAdminNoSuchUser',
  'no-such-group': 'XMinioAdminNoSuchGroup',
  'no-such-policy': 'XMinioAdminNoSuchPolicy',
  'no-such-service-account': 'XMinioAdminNoSuchAccessKey',
  'access-key-in-use': 'XMinioAdminAccessKeyInUse',
  'invalid-access-key': 'XMinioAdminInvalidAccessKey',
  'invalid-secret-key': 'XMinioAdminInvalidSecretKey',
  'invalid-name': 'XCofferInvalidRequest',
  'invalid-expiration': 'XCofferInvalidRequest',
  'group-exists': 'XCofferRefused',
  'group-not-empty': 'XMinioAdminGroupNotEmpty',
  'policy-in-use': 'XMinioAdminPolicyInUse',
  'policy-changed': 'XCofferRefused',
  'policy-built-in': 'XMinioAdminPolicyInUse',
  'nothing-to-change': 'XMinioAdminPolicyChangeAlreadyApplied',
  'too-many-guesses': 'SlowDown',
  'configuration-exists': 'XMinioAdminConfigIDPCfgNameAlreadyExists',
  'no-such-configuration': 'XMinioAdminConfigIDPCfgNameDoesNotExist',
  'from-environment': 'XMinioAdminConfigEnvOverridden',
  'invalid-configuration': 'XMinioConfigError',
  'unusable-provider': 'XMinioConfigError',
  'provider-unavailable': 'XCofferRefused',
  'no-such-history': 'XMinioAdminNoSuchConfigTarget',
  'no-such-subsystem': 'XMinioAdminNoSuchConfigTarget',
  busy: 'SlowDown',
  'sign-in-refused': 'XCofferRefused',
  'ambiguous-user': 'XCofferRefused',
  'directory-unavailable': 'XCofferRefused',
  'no-directory': 'XCofferRefused',
};

/** Returns the error of the admin API for an error of identities, configurations or policies; undefined for others. */
export function asAdminError(error: unknown): RequestError | undefined {
  if (isAdminError(error)) return error;
  if (error instanceof IdentityError) return adminError(identityCodes[error.code], error.message, { cause: error });
  if (error instanceof FormatError) return adminError('XMinioConfigError', error.message, { cause: error });
  if (error instanceof S3Error && error.code === 'MalformedPolicy') {
    return adminError('XMinioMalformedIAMPolicy', error.message, { cause: error });
  }
  return undefined;
}
