import { normalizeDn } from '../../federation/ldap/distinguished-name.ts';
import type { LdapDirectory } from '../../federation/ldap/ldap-directory.ts';
import { type LdapUser, ldapSubject } from '../../federation/ldap/ldap-user.ts';
import { isDirectoryError } from '../../auth/identity-error.ts';
import type { AttachmentTarget } from '../../auth/identities/subject.ts';
import { adminPath, sealedJsonBody, nowOf, type AdminAnswer, type AdminCall, type Route, sealed } from '../call.ts';
import { ldapPolicyEntities } from '../../administration/policy-entities.ts';
import { association, changeAssociation, isAttaching, userOrGroup } from '../policy-attachments.ts';
import { callerSubject, mayAttach, mayListAttached, requireUnlessOwn } from '../../administration/caller.ts';
import { createAccount } from '../access-keys/service-accounts.ts';
import { given, newServiceAccountBody } from '../../administration/service-accounts.ts';
import { adminError } from '../../administration/admin-error.ts';

/** Policies of directory users and groups, and their access keys: `mc idp ldap …`. */
export const ldapRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: adminPath('idp/ldap/policy/(attach|detach)'),
    action: mayAttach,
    serve: changePolicies,
  },
  {
    method: 'GET',
    path: adminPath('idp/ldap/policy-entities'),
    action: mayListAttached,
    serve: async ({ services, query }) =>
      sealed(
        await ldapPolicyEntities(services.identities, {
          users: query.getAll('user').map(dnOf),
          groups: query.getAll('group').map(dnOf),
          policies: query.getAll('policy'),
          now: nowOf(services),
        }),
      ),
  },
  {
    method: 'PUT',
    path: adminPath('idp/ldap/add-service-account'),
    action: 'admin:CreateServiceAccount',
    own: true,
    serve: addServiceAccount,
  },
];

async function changePolicies(call: AdminCall): Promise<AdminAnswer> {
  const { policies, ...named } = await sealedJsonBody(call, association);
  const { kind, name } = userOrGroup(named);
  const target: AttachmentTarget =
    kind === 'group'
      ? { kind: 'ldap-group', name: dnOf(name) }
      : { kind: 'ldap-user', name: isAttaching(call) ? (await known(call, name)).dn : await dnOfUser(call, name) };
  return sealed(await changeAssociation(call, target, policies));
}

async function addServiceAccount(call: AdminCall): Promise<AdminAnswer> {
  const body = await sealedJsonBody(call, newServiceAccountBody);
  const target = given(body.targetUser);
  const own = callerSubject(call.principal);
  const subject = target === undefined ? own : ldapSubject(await known(call, target));
  if (subject.kind !== 'federated' || subject.source !== 'ldap') {
    throw adminError('XCofferInvalidRequest', 'Name the directory user of the access key.');
  }
  await requireUnlessOwn(call, subject, 'admin:CreateServiceAccount');
  return createAccount(call, body, subject);
}

/** Policies can be detached from a DN that the directory no longer has. */
async function dnOfUser(call: AdminCall, nameOrDn: string): Promise<string> {
  return normalizeDn(nameOrDn) ?? (await known(call, nameOrDn)).dn;
}

async function known(call: AdminCall, nameOrDn: string): Promise<LdapUser> {
  let user: LdapUser | undefined;
  try {
    user = await directoryOf(call).find(nameOrDn);
  } catch (error) {
    if (!isDirectoryError(error)) throw error;
    throw adminError('XCofferRefused', error.message, { cause: error });
  }
  if (user !== undefined) return user;
  const name = JSON.stringify(nameOrDn.slice(0, 256));
  throw adminError('XMinioAdminNoSuchUser', `The directory has no user with the name or DN ${name}.`);
}

function directoryOf({ services }: AdminCall): Pick<LdapDirectory, 'find'> {
  if (services.directory !== undefined) return services.directory;
  throw adminError('XCofferRefused', 'No directory is configured; set SVC_IDENTITY_LDAP_SERVER_ADDR.');
}

function dnOf(text: string): string {
  const dn = normalizeDn(text);
  if (dn !== undefined) return dn;
  const given = JSON.stringify(text.slice(0, 256));
  throw adminError('XCofferInvalidRequest', `${given} is no distinguished name, such as cn=staff,dc=example,dc=org.`);
}
