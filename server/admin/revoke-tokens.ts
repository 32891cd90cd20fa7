import { normalizeDn } from '../access/ldap/distinguished-name.ts';
import { ownerOf } from '../identities/subject.ts';
import { adminPath } from './admin-path.ts';
import { AdminError } from './admin-error.ts';
import { boundaryOf } from './own-account.ts';
import { callerOwner } from './owner-named.ts';
import type { AdminAnswer, AdminCall, Route } from './route.ts';

/**
 * Ends temporary credentials: all of a subject's (`fullRevoke`), or those that were made with a label (`tokenRevokeType`). Everybody may
 * end their own; temporary credentials without a parameter end those with their own label.
 */
export const revokeTokensRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: adminPath('revoke-tokens/(builtin|ldap|openid)'),
    action: 'admin:RemoveServiceAccount',
    own: true,
    serve: revoke,
  },
];

async function revoke(call: AdminCall): Promise<AdminAnswer> {
  const { temporary } = call.services;
  const user = text(call, 'user');
  const full = call.query.get('fullRevoke') === 'true' || call.query.get('full') === 'true';
  const revokeType = text(call, 'tokenRevokeType');
  if (full && revokeType !== undefined) {
    throw new AdminError('XCofferInvalidRequest', 'Give either fullRevoke=true or a tokenRevokeType, not both.');
  }
  const owner = user === undefined ? callerOwner(call) : await ownerOfUser(call, user);
  // Who is narrowed by a policy has nothing of their own: elsewhere too they would need the right.
  if (owner !== callerOwner(call) || boundaryOf(call.principal) !== undefined) {
    await call.require('admin:RemoveServiceAccount');
  }
  const label = full ? undefined : (revokeType ?? (user === undefined ? await ownLabel(call) : undefined));
  if (!full && label === undefined) {
    throw new AdminError(
      'XCofferInvalidRequest',
      'Say which temporary credentials: all of them by fullRevoke=true, or those of a label by tokenRevokeType.',
    );
  }
  await temporary.revokeAllOf(owner, label);
  return { kind: 'none', status: 204 };
}

/** The label that the caller's own credentials have. */
async function ownLabel({ principal, services }: AdminCall): Promise<string | undefined> {
  if (principal.kind !== 'temporary') return undefined;
  return (await services.temporary.find(principal.accessKey))?.revokeType;
}

async function ownerOfUser(call: AdminCall, user: string): Promise<string> {
  const { root, identities } = call.services;
  const kind = call.parts[0];
  if (kind === 'ldap') return normalizeDn(user) ?? unknown(user);
  // As MinIO names people of a provider; names of owners of another kind are none of theirs.
  if (kind === 'openid') return /^(root$|user:)/.test(user) ? unknown(user) : user;
  if (user === root.user) return ownerOf({ kind: 'root' });
  return (await identities.user(user)) === undefined ? unknown(user) : ownerOf({ kind: 'user', name: user });
}

function unknown(user: string): never {
  throw new AdminError('XMinioAdminNoSuchUser', `There is no user ${JSON.stringify(user.slice(0, 256))} of this kind.`);
}

function text({ query }: AdminCall, name: string): string | undefined {
  const value = query.get(name);
  return value === null || value === '' ? undefined : value;
}
