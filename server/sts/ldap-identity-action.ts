import type { AssumeRoleWithLdapIdentity } from './assume-role-with-ldap-identity.ts';
import { sessionRequest } from './session-request.ts';
import type { StsAction } from './sts-action.ts';
import { assumedRoleUser, credentialsElement } from './sts-documents.ts';

/** `AssumeRoleWithLDAPIdentity` as clients send it. */
export function ldapIdentityAction(assume: AssumeRoleWithLdapIdentity): StsAction {
  return {
    name: 'AssumeRoleWithLDAPIdentity',
    async serve(parameters, request) {
      const [name, password] = [parameters.required('LDAPUsername'), parameters.required('LDAPPassword')];
      const granted = await assume({
        name,
        password,
        watch: request.watch,
        from: request,
        ...sessionRequest(parameters),
      });
      return { result: [assumedRoleUser('', granted), credentialsElement(granted)], granted };
    },
  };
}
