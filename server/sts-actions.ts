import type { ServerSettings } from '../platform/settings/server-settings.ts';
import { createSenderCheck } from './access/authenticate.ts';
import type { Services } from './services.ts';
import { assumeRole } from './sts/assume-role.ts';
import { assumeRoleWithClientGrants } from './sts/assume-role-with-client-grants.ts';
import { assumeRoleWithLdapIdentity } from './sts/assume-role-with-ldap-identity.ts';
import { getCallerIdentity } from './sts/get-caller-identity.ts';
import { signedCaller } from './sts/signed-caller.ts';
import type { StsAction } from './sts/sts-action.ts';
import { webIdentityAction } from './sts/web-identity-action.ts';

const clock = () => new Date();

/** What the STS API offers. */
export function stsActions(services: Services, _settings: ServerSettings): readonly StsAction[] {
  const { access, assumeRoleWithWebIdentity, directory } = services;
  const caller = signedCaller(createSenderCheck({ credentials: access, clock }));
  return [
    assumeRole({ ...access, caller, clock }),
    webIdentityAction(assumeRoleWithWebIdentity),
    assumeRoleWithClientGrants(assumeRoleWithWebIdentity),
    assumeRoleWithLdapIdentity({ ...access, ...(directory === undefined ? {} : { directory }), clock }),
    getCallerIdentity({ caller }),
  ];
}
