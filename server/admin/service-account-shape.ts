import type { TemporaryCredentials } from '../access/temporary-credentials-record.ts';
import { serializePolicy } from '../../protocol/policy/serialize-policy.ts';
import type { ServiceAccount } from '../identities/identity-records.ts';
import { parentName, type Subject } from '../identities/subject.ts';
import { effectivePolicy, shownInlinePolicy, shownPolicy } from './effective-policy.ts';
import { expirationText, never } from './expiration-time.ts';
import { optionalField } from './optional-field.ts';
import type { AdminServices } from './services.ts';

/** An access key in a list. */
export function listedAccount(account: ServiceAccount, rootUser: string) {
  const { accessKey, name, description, expiration } = account;
  return {
    parentUser: parentName(account.subject, rootUser),
    accountStatus: shownStatus(account),
    impliedPolicy: account.policy === undefined,
    accessKey,
    ...optionalField('name', name),
    ...optionalField('description', description),
    expiration: expiration === undefined ? never : expirationText(expiration),
  };
}

export function listedTemporary({ accessKey, principal }: TemporaryCredentials, rootUser: string) {
  return {
    parentUser: parentName(principal.subject, rootUser),
    accountStatus: 'on',
    impliedPolicy: principal.sessionPolicy === undefined,
    accessKey,
    expiration: expirationText(principal.expiration.getTime()),
  };
}

/** All about an access key but its secret. `policy`: its own, else what its owner may do. */
export async function shownAccount(
  { identities, root }: Pick<AdminServices, 'identities' | 'root'>,
  account: ServiceAccount,
) {
  const { subject, policy, name, description, expiration } = account;
  return {
    parentUser: parentName(subject, root.user),
    accountStatus: shownStatus(account),
    impliedPolicy: policy === undefined,
    policy: policy === undefined ? shownPolicy(await effectivePolicy(identities, subject)) : shownInlinePolicy(policy),
    ...optionalField('name', name),
    ...optionalField('description', description),
    ...optionalField('comment', description),
    ...optionalField('expiration', expiration === undefined ? undefined : expirationText(expiration)),
  };
}

export async function shownTemporary(
  { identities, root }: Pick<AdminServices, 'identities' | 'root'>,
  { principal }: TemporaryCredentials,
) {
  const { subject, sessionPolicy, expiration } = principal;
  const policy =
    sessionPolicy === undefined
      ? shownPolicy(await effectivePolicy(identities, subject))
      : JSON.stringify(JSON.parse(serializePolicy(sessionPolicy)), null, 1);
  return {
    parentUser: parentName(subject, root.user),
    accountStatus: 'on',
    impliedPolicy: sessionPolicy === undefined,
    policy,
    expiration: expirationText(expiration.getTime()),
  };
}

/** Who vouches for the owner, in the words of the clients; `certificate` and `custom` are of Coffer's own. */
export function providerFields(subject: Subject) {
  const federated = subject.kind === 'federated' ? subject : undefined;
  const openid = federated?.source === 'openid' ? federated : undefined;
  return {
    userProvider: federated?.source ?? 'builtin',
    ldapSpecificInfo: { username: federated?.source === 'ldap' ? federated.displayName : '' },
    openIDSpecificInfo: {
      configName: openid?.provider ?? '',
      userID: openid?.subjectId ?? '',
      userIDClaim: openid?.subjectId === undefined ? '' : 'sub',
      ...optionalField('displayName', openid?.displayName),
    },
  };
}

function shownStatus({ status }: ServiceAccount): string {
  return status === 'enabled' ? 'on' : 'off';
}
