import { z } from 'zod';
import type { AttachmentTarget } from '../auth/identities/subject.ts';
import {
  type AdminCall,
  adminPath,
  isSecondGeneration,
  sealedJsonBody,
  nowOf,
  type AdminAnswer,
  nothing,
  type Route,
  sealed,
  cofferPath,
} from './call.ts';
import { mayAttach, mayListAttached } from '../administration/caller.ts';
import { policyEntities } from '../administration/policy-entities.ts';
import { policyNames } from '../administration/policies.ts';
import { adminError } from '../administration/admin-error.ts';

const policyList = z.array(z.string()).min(1);

/** The body of `policy/attach` and `policy/detach`. */
export const association = z.strictObject({
  policies: policyList,
  user: z.string().optional(),
  group: z.string().optional(),
  /** There is one directory. */
  configName: z.enum(['', '_']).optional(),
});

/** Returns the user or the group of the body, which must have exactly one of both. */
export function userOrGroup({
  user = '',
  group = '',
}: {
  readonly user?: string | undefined;
  readonly group?: string | undefined;
}): { readonly kind: 'user' | 'group'; readonly name: string } {
  if ((user === '') === (group === '')) {
    throw adminError('XCofferInvalidRequest', 'Name either a user or a group to attach policies to.');
  }
  return user === '' ? { kind: 'group', name: group } : { kind: 'user', name: user };
}

/** Reports whether the path says `attach`; its first group is `attach` or `detach`. */
export function isAttaching({ parts }: AdminCall): boolean {
  return parts[0] === 'attach';
}

interface ChangedAssociation {
  readonly policiesAttached?: readonly string[];
  readonly policiesDetached?: readonly string[];
  readonly updatedAt: string;
}

/** Attaches or detaches policies, as the path says, and returns the change. */
export async function changeAssociation(
  call: AdminCall,
  target: AttachmentTarget,
  policies: readonly string[],
): Promise<ChangedAssociation> {
  const { identities } = call.services;
  const attaching = isAttaching(call);
  const { changed, updatedAt } = await (attaching
    ? identities.attach(target, policies)
    : identities.detach(target, policies));
  return {
    ...(attaching ? { policiesAttached: changed } : { policiesDetached: changed }),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}

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

/** Replaces the policies; an empty list removes all. */
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

/** Policies of tokens with a claim, such as those of the service accounts of a namespace. Coffer's own calls. */
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

/** Characters of up to three bytes. All of them are parts of a record key, which has a maximum length. */
const text = z.string().min(1).max(128);
const value = z.string().min(1).max(256);

const attachment = z.strictObject({
  /** The name of the provider's configuration, or `_`. */
  provider: text,
  /** The claim's name, or a path with `/` to a nested claim. */
  claim: text,
  /** `*` and `?` are wildcards. */
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
