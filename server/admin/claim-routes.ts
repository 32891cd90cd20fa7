import { z } from 'zod';
import type { AttachmentTarget } from '../identities/attachment-target.ts';
import { cofferPath } from './admin-path.ts';
import { sealedJsonBody } from './json-body.ts';
import { type AdminAnswer, type AdminCall, type Route, sealed } from './route.ts';

/** Policies of everyone whose token has a claim, such as the service accounts of a namespace. Coffer's own calls. */
export const claimRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: cofferPath('claim-policy/(attach|detach)'),
    action: ['admin:AttachUserOrGroupPolicy', 'admin:UpdatePolicyAssociation'],
    serve: change,
  },
  {
    method: 'GET',
    path: cofferPath('claim-policy'),
    action: ['admin:ListUserPolicies', 'admin:ListUsers', 'admin:ListGroups'],
    serve: list,
  },
];

/** All are parts of one record's key, which has a bound. Characters, of up to three bytes each. */
const text = z.string().min(1).max(128);
const value = z.string().min(1).max(256);

const attachment = z.object({
  /** The name of the provider's configuration, `_` where it has none. */
  provider: text,
  /** Its name, or a path with `/` into claims. */
  claim: text,
  /** `*` and `?` are wild. */
  value,
  policies: z.array(z.string()).min(1),
});

async function change(call: AdminCall): Promise<AdminAnswer> {
  const { identities } = call.services;
  const { policies, ...named } = await sealedJsonBody(call, attachment);
  const target: AttachmentTarget = { kind: 'claim', ...named };
  const attaching = call.parts[0] === 'attach';
  const changed = await (attaching ? identities.attach(target, policies) : identities.detach(target, policies));
  const updatedAt = new Date(changed.updatedAt).toISOString();
  return sealed({ [attaching ? 'policiesAttached' : 'policiesDetached']: changed.changed, updatedAt });
}

async function list({ services }: AdminCall): Promise<AdminAnswer> {
  const claims: object[] = [];
  for await (const { target, policies, updatedAt } of services.identities.attachments('claim')) {
    if (target.kind !== 'claim') continue;
    const { provider, claim, value } = target;
    claims.push({ provider, claim, value, policies, updatedAt: new Date(updatedAt).toISOString() });
  }
  return sealed({ claims });
}
