import type { ServerSettings } from '../platform/settings/server-settings.ts';
import { createSenderCheck } from './access/authenticate.ts';
import type { Services } from './services.ts';
import { assumeRole } from './sts/assume-role.ts';
import { assumeRoleWithCertificate } from './sts/assume-role-with-certificate.ts';
import { assumeRoleWithClientGrants } from './sts/assume-role-with-client-grants.ts';
import { assumeRoleWithCustomToken } from './sts/assume-role-with-custom-token.ts';
import { getCallerIdentity } from './sts/get-caller-identity.ts';
import { askPlugin } from './sts/identity-plugin.ts';
import { ldapIdentityAction } from './sts/ldap-identity-action.ts';
import { signedCaller } from './sts/signed-caller.ts';
import type { StsAction } from './sts/sts-action.ts';
import { webIdentityAction } from './sts/web-identity-action.ts';

const clock = () => new Date();

/** What the STS API offers. */
export function stsActions(services: Services, settings: ServerSettings): readonly StsAction[] {
  const { access, assumeRoleWithWebIdentity, assumeRoleWithLdapIdentity } = services;
  const { clientCertificates: certificates } = settings;
  const caller = signedCaller(createSenderCheck({ credentials: access, clock }));
  return [
    assumeRole({ ...access, caller, clock }),
    webIdentityAction(assumeRoleWithWebIdentity),
    assumeRoleWithClientGrants(assumeRoleWithWebIdentity),
    ldapIdentityAction(assumeRoleWithLdapIdentity),
    assumeRoleWithCertificate({ ...access, ...(certificates === undefined ? {} : { settings: certificates }), clock }),
    assumeRoleWithCustomToken({ ...access, ...pluginOf(settings), region: settings.region, clock }),
    getCallerIdentity({ caller }),
  ];
}

function pluginOf({ identityPlugin }: ServerSettings) {
  return identityPlugin === undefined ? {} : { plugin: { settings: identityPlugin, ask: askPlugin(identityPlugin) } };
}
