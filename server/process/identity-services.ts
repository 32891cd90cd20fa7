import type { Logger } from '../../platform/logger.ts';
import type { ServerSettings } from '../../platform/settings/server-settings.ts';
import type { AccessRoom } from '../auth/access.ts';
import { checkedIdentities, checkedTemporary } from '../federation/checked-credentials.ts';
import { createCutOffs, createCheckTally } from '../federation/user-status-records.ts';
import { configuredDirectory, type ConfiguredDirectory } from '../federation/ldap/configured-directory.ts';
import { rightsOfPerson } from '../federation/ldap/ldap-user.ts';
import { createOpenIdProviders, type OpenIdProviders } from '../federation/openid-providers.ts';
import { createPersonCheck, type PersonCheck } from '../federation/user-status-check.ts';
import type { SealedRecordStore } from '../encryption/sealed-records.ts';
import type { IdentityProviderConfigurations } from '../federation/configurations/provider-configurations.ts';
import { openIdConfigurations, storedProviders } from '../federation/configurations/openid-configurations.ts';
import { ldapConfigurations, storedDirectory } from '../federation/configurations/ldap-configurations.ts';
import { storedConfigurations, type StoredConfigurations } from '../federation/configurations/stored-configurations.ts';

/** The identity providers, their stored configurations, and the access of the users whom the providers still know. */
export interface IdentityServices {
  readonly providers: OpenIdProviders;
  /** The given access. It creates credentials only for users who still exist at their provider. */
  readonly access: AccessRoom;
  /** The directory of the current configuration. */
  readonly directory: ConfiguredDirectory;
  readonly personCheck: PersonCheck;
  readonly identityProviders: readonly IdentityProviderConfigurations[];
  readonly configurations: StoredConfigurations;
}

interface IdentityServicesOptions {
  readonly settings: ServerSettings;
  readonly sealed: SealedRecordStore;
  readonly access: AccessRoom;
  /** Milliseconds that records may be cached; 0 if no other server changes them. */
  readonly staleMs: number;
  readonly logs: { readonly providers: Logger; readonly people: Logger };
  readonly clock: () => Date;
}

export function openIdentityServices(options: IdentityServicesOptions): IdentityServices {
  const { settings, sealed, access, staleMs, logs, clock } = options;
  const { region } = settings;
  const configurations = storedConfigurations(sealed, clock);
  const stored = storedProviders(configurations);
  const providers = createOpenIdProviders({ settings: settings.openid, region, stored, staleMs, log: logs.providers });
  const directory = configuredDirectory({ environment: settings.ldap, stored: storedDirectory(configurations) });
  const personCheck = createPersonCheck({
    providers,
    directory,
    temporary: access.temporary,
    identities: access.identities,
    cutOffs: createCutOffs(sealed),
    tally: createCheckTally(sealed, clock),
    unreachable: settings.personCheck.unreachable,
    log: logs.people,
  });
  const openid = openIdConfigurations({
    stored: configurations,
    environment: settings.openid,
    region,
    apply: () => providers.refresh(),
    redirectUri: ({ redirectUri, redirectUriDynamic }) =>
      redirectUriDynamic ? undefined : (redirectUri ?? callbackOf(settings.browser.redirectUrl)),
  });
  return {
    providers,
    access: {
      ...access,
      temporary: checkedTemporary(access.temporary, personCheck),
      identities: checkedIdentities(access.identities, personCheck),
    },
    personCheck,
    directory,
    identityProviders: [
      openid,
      ldapConfigurations({
        stored: configurations,
        environment: settings.ldap,
        rights: rightsOfPerson(access.identities),
      }),
    ],
    configurations,
  };
}

function callbackOf(browserUrl: string | undefined): string | undefined {
  return browserUrl === undefined ? undefined : `${browserUrl.replace(/\/+$/, '')}/oauth_callback`;
}
