import { z } from 'zod';
import { cofferPath } from './admin-path.ts';
import { sealedJsonBody } from './json-body.ts';
import { mayAttach, mayListAttached } from './own-account.ts';
import { changeAssociation, policyList } from './policy-association.ts';
import { type AdminAnswer, type AdminCall, type Route, sealed } from './route.ts';

/** Policies of everyone whose token has a claim, such as the service accounts of a namespace. Coffer's own calls. */
export const claimRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: cofferPath('claim-policy/(attach|detach)'),
    action: mayAttach,
    serve: change,
  },
  {
    method: 'GET',
    path: cofferPath('claim-policy'),
    action: mayListAttached,
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
  policies: policyList,
});

async function change(call: AdminCall): Promise<AdminAnswer> {
  const { policies, ...named } = await sealedJsonBody(call, attachment);
  return sealed(await changeAssociation(call, { kind: 'claim', ...named }, policies));
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
