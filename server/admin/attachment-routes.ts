import { adminPath } from './admin-path.ts';
import { isSecondGeneration } from './client-age.ts';
import { sealedJsonBody } from './json-body.ts';
import { nowOf } from './now.ts';
import { mayAttach, mayListAttached } from './own-account.ts';
import { association, changeAssociation, isAttaching, userOrGroup } from './policy-association.ts';
import { policyEntities } from './policy-entities.ts';
import { policyNames } from './policy-names.ts';
import { type AdminAnswer, type AdminCall, nothing, type Route, sealed } from './route.ts';

export const attachmentRoutes: readonly Route[] = [
  { method: 'PUT', path: adminPath('set-user-or-group-policy'), action: mayAttach, serve: setPolicies },
  { method: 'POST', path: adminPath('idp/builtin/policy/(attach|detach)'), action: mayAttach, serve: changePolicies },
  {
    method: 'GET',
    path: adminPath('idp/builtin/policy-entities'),
    action: mayListAttached,
    serve: async ({ services, query }) =>
      sealed(
        await policyEntities(services.identities, {
          users: query.getAll('user'),
          groups: query.getAll('group'),
          policies: query.getAll('policy'),
          now: nowOf(services),
        }),
      ),
  },
];

/** Exactly these from now on; an empty list takes all away. */
async function setPolicies(call: AdminCall): Promise<AdminAnswer> {
  const name = call.required('userOrGroup');
  const target = { kind: call.query.get('isGroup') === 'true' ? 'group' : 'user', name } as const;
  await call.services.identities.setAttached(target, policyNames(call.query.get('policyName') ?? ''));
  return nothing;
}

async function changePolicies(call: AdminCall): Promise<AdminAnswer> {
  const { policies, ...named } = await sealedJsonBody(call, association);
  const changed = await changeAssociation(call, userOrGroup(named), policies);
  if (!isSecondGeneration(call.request.headers['user-agent'])) return sealed(changed);
  return { kind: 'none', status: isAttaching(call) ? 201 : 204 };
}
