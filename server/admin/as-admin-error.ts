import { S3Error } from '../../protocol/s3/s3-error.ts';
import { KeyValueError } from '../../protocol/settings/key-values.ts';
import { ConfigurationError, type ConfigurationErrorCode } from '../identity-providers/configuration-error.ts';
import { IdentityError, type IdentityErrorCode } from '../identities/identity-error.ts';
import { AdminError, type AdminErrorCode } from './admin-error.ts';

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
  'group-not-empty': 'XMinioAdminGroupNotEmpty',
  'policy-in-use': 'XMinioAdminPolicyInUse',
  'policy-changed': 'XCofferRefused',
  'policy-built-in': 'XMinioAdminPolicyInUse',
  'nothing-to-change': 'XMinioAdminPolicyChangeAlreadyApplied',
  busy: 'SlowDown',
};

const configurationCodes: Readonly<Record<ConfigurationErrorCode, AdminErrorCode>> = {
  exists: 'XMinioAdminConfigIDPCfgNameAlreadyExists',
  'no-such-name': 'XMinioAdminConfigIDPCfgNameDoesNotExist',
  'from-environment': 'XMinioAdminConfigEnvOverridden',
  invalid: 'XMinioConfigError',
  unusable: 'XMinioConfigError',
  'no-such-history': 'XMinioAdminNoSuchConfigTarget',
  'no-such-subsystem': 'XMinioAdminNoSuchConfigTarget',
  busy: 'SlowDown',
};

/** Translates an error of the rules of administration for admin clients; undefined for every other error. */
export function asAdminError(error: unknown): AdminError | undefined {
  if (error instanceof AdminError) return error;
  if (error instanceof IdentityError) return new AdminError(identityCodes[error.code], error.message, { cause: error });
  if (error instanceof ConfigurationError) {
    return new AdminError(configurationCodes[error.code], error.message, { cause: error });
  }
  if (error instanceof KeyValueError) return new AdminError('XMinioConfigError', error.message, { cause: error });
  if (error instanceof S3Error && error.code === 'MalformedPolicy') {
    return new AdminError('XMinioMalformedIAMPolicy', error.message, { cause: error });
  }
  return undefined;
}
