import type { Logger } from '../../platform/output/logger.ts';
import type { ServerSettings } from '../../platform/settings/server-settings.ts';
import type { AccessService } from '../auth/access.ts';
import { callbackOf } from '../federation/callback-address.ts';
import { checkedIdentities, checkedTemporary } from '../federation/checked-credentials.ts';
import { createRevocations, createCheckCounter } from '../federation/user-status-records.ts';
import { configuredDirectory, type ConfiguredDirectory } from '../federation/ldap/configured-directory.ts';
import { ldapUserPolicies } from '../federation/ldap/ldap-user.ts';
import { createOpenIdProviders, type OpenIdProviders } from '../federation/openid-providers.ts';
import { createUserStatusCheck, type UserStatusCheck } from '../federation/user-status-check.ts';
import type { SealedRecordStore } from '../encryption/sealed-records.ts';
import type { IdentityProviderConfigurations } from '../federation/configurations/provider-configurations.ts';
import { openIdConfigurations, storedProviders } from '../federation/configurations/openid-configurations.ts';
import { ldapConfigurations, storedDirectory } from '../federation/configurations/ldap-configurations.ts';
import { storedConfigurations, type StoredConfigurations } from '../federation/configurations/stored-configurations.ts';

/** The identity providers, their stored configurations, and the access of the users whom the providers still know. */
export interface IdentityServices {
  readonly providers: OpenIdProviders;
  /** The given access. It creates credentials only for users who still exist at their provider. */
  readonly access: AccessService;
  /** The directory of the current configuration. */
  readonly directory: ConfiguredDirectory;
  readonly userStatusCheck: UserStatusCheck;
  readonly identityProviders: readonly IdentityProviderConfigurations[];
  readonly configurations: StoredConfigurations;
}

interface IdentityServicesOptions {
  readonly settings: ServerSettings;
  readonly sealed: SealedRecordStore;
  readonly access: AccessService;
  /** Milliseconds that records may be cached; 0 if no other server changes them. */
  readonly staleMs: number;
  readonly logs: { readonly providers: Logger; readonly userStatus: Logger };
  readonly clock: () => Date;
}

export function openIdentityServices(options: IdentityServicesOptions): IdentityServices {
  const { settings, sealed, access, staleMs, logs, clock } = options;
  const { region } = settings;
  const configurations = storedConfigurations(sealed, clock);
  const stored = storedProviders(configurations);
  const providers = createOpenIdProviders({ settings: settings.openid, region, stored, staleMs, log: logs.providers });
  const directory = configuredDirectory({ environment: settings.ldap, stored: storedDirectory(configurations) });
  const userStatusCheck = createUserStatusCheck({
    providers,
    directory,
    temporary: access.temporary,
    identities: access.identities,
    revocations: createRevocations(sealed),
    counter: createCheckCounter(sealed, clock),
    unreachable: settings.userStatusCheck.unreachable,
    log: logs.userStatus,
  });
  const { redirectUrl } = settings.browser;
  const ownCallback = redirectUrl === undefined ? undefined : callbackOf(redirectUrl);
  const openid = openIdConfigurations({
    stored: configurations,
    environment: settings.openid,
    region,
    policyExists: async (name) => (await access.identities.policy(name)) !== undefined,
    apply: () => providers.refresh(),
    redirectUri: ({ redirectUri, redirectUriDynamic }) =>
      redirectUriDynamic ? undefined : (redirectUri ?? ownCallback),
  });
  return {
    providers,
    access: {
      ...access,
      temporary: checkedTemporary(access.temporary, userStatusCheck),
      identities: checkedIdentities(access.identities, userStatusCheck),
    },
    userStatusCheck,
    directory,
    identityProviders: [
      openid,
      ldapConfigurations({
        stored: configurations,
        environment: settings.ldap,
        rights: ldapUserPolicies(access.identities),
      }),
    ],
    configurations,
  };
}
