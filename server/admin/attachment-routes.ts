import { z } from 'zod';
import type { AttachmentTarget } from '../identities/attachment-target.ts';
import { adminPath } from './admin-path.ts';
import { AdminError } from './admin-error.ts';
import { isSecondGeneration } from './client-age.ts';
import { sealedJsonBody } from './json-body.ts';
import { policyEntities } from './policy-entities.ts';
import { policyNames } from './policy-names.ts';
import { type AdminAnswer, type AdminCall, nothing, type Route, sealed } from './route.ts';

/** Either right: older policies have the first, newer ones the second. */
const mayAttach = ['admin:AttachUserOrGroupPolicy', 'admin:UpdatePolicyAssociation'];

export const attachmentRoutes: readonly Route[] = [
  { method: 'PUT', path: adminPath('set-user-or-group-policy'), action: mayAttach, serve: setPolicies },
  { method: 'POST', path: adminPath('idp/builtin/policy/(attach|detach)'), action: mayAttach, serve: changePolicies },
  {
    method: 'GET',
    path: adminPath('idp/builtin/policy-entities'),
    action: ['admin:ListUserPolicies', 'admin:ListUsers', 'admin:ListGroups'],
    serve: async ({ services, query }) =>
      sealed(
        await policyEntities(services.identities, {
          users: query.getAll('user'),
          groups: query.getAll('group'),
          policies: query.getAll('policy'),
          now: (services.clock ?? (() => new Date()))(),
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

const association = z.object({
  policies: z.array(z.string()).min(1),
  user: z.string().optional(),
  group: z.string().optional(),
});

async function changePolicies(call: AdminCall): Promise<AdminAnswer> {
  const { identities } = call.services;
  const { policies, ...named } = await sealedJsonBody(call, association);
  const target = targetOf(named);
  const attaching = call.parts[0] === 'attach';
  const { changed, updatedAt } = await (attaching
    ? identities.attach(target, policies)
    : identities.detach(target, policies));
  if (isSecondGeneration(call.request.headers['user-agent'])) return { kind: 'none', status: attaching ? 201 : 204 };
  const time = new Date(updatedAt).toISOString();
  return sealed({ [attaching ? 'policiesAttached' : 'policiesDetached']: changed, updatedAt: time });
}

function targetOf({
  user = '',
  group = '',
}: {
  readonly user?: string | undefined;
  readonly group?: string | undefined;
}) {
  if ((user === '') === (group === '')) {
    throw new AdminError('XCofferInvalidRequest', 'Name either a user or a group to attach policies to.');
  }
  const target: AttachmentTarget = user === '' ? { kind: 'group', name: group } : { kind: 'user', name: user };
  return target;
}
