import { KeyValueError } from '../../protocol/settings/key-values.ts';
import { ConfigurationError } from '../identity-providers/configuration-error.ts';
import type { ConfigurationErrorCode } from '../identity-providers/configuration-error.ts';
import { AdminError } from './admin-error.ts';
import type { AdminErrorCode } from './admin-error.ts';
import type { Route } from './route.ts';

const codes: Readonly<Record<ConfigurationErrorCode, AdminErrorCode>> = {
  exists: 'XMinioAdminConfigIDPCfgNameAlreadyExists',
  'no-such-name': 'XMinioAdminConfigIDPCfgNameDoesNotExist',
  'from-environment': 'XMinioAdminConfigEnvOverridden',
  invalid: 'XMinioConfigError',
  unusable: 'XMinioConfigError',
  'no-such-history': 'XMinioAdminNoSuchConfigTarget',
  'no-such-subsystem': 'XMinioAdminNoSuchConfigTarget',
  busy: 'SlowDown',
};

/** Refusals of configurations in the words of the admin API; undefined for what is none. */
export function asConfigurationRefusal(error: unknown): AdminError | undefined {
  if (error instanceof ConfigurationError) return new AdminError(codes[error.code], error.message, { cause: error });
  if (error instanceof KeyValueError) return new AdminError('XMinioConfigError', error.message, { cause: error });
  return undefined;
}

/** The same calls, whose refusals are in the words of the admin API. */
export function refusing(routes: readonly Route[]): readonly Route[] {
  return routes.map((route) => ({
    ...route,
    async serve(call) {
      try {
        return await route.serve(call);
      } catch (error) {
        throw asConfigurationRefusal(error) ?? error;
      }
    },
  }));
}
