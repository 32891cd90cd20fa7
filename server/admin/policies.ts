import { IdentityError } from '../auth/identity-error.ts';
import type { NamedDocument } from '../auth/identities/identities.ts';
import {
  adminPath,
  type AdminAnswer,
  type AdminCall,
  json,
  nothing,
  type Route,
  cofferPath,
  jsonBody,
} from './call.ts';
import { allowsInBucket, existingPolicy } from '../administration/policies.ts';
import { z } from 'zod';
import { nameRecord } from '../../protocol/json/name-record.ts';
import { renderExplanation } from '../../protocol/policy/explanation.ts';
import { principalNamed } from '../administration/caller.ts';
import { adminError } from '../administration/admin-error.ts';

/** Bytes. A record has the policy with ten earlier versions. */
const maxPolicyBytes = 64 * 1024;

export const policyRoutes: readonly Route[] = [
  { method: 'PUT', path: adminPath('add-canned-policy'), action: 'admin:CreatePolicy', serve: putPolicy },
  { method: 'GET', path: adminPath('info-canned-policy'), action: 'admin:GetPolicy', serve: policyInfo },
  { method: 'GET', path: adminPath('list-canned-policies'), action: 'admin:ListUserPolicies', serve: listPolicies },
  { method: 'DELETE', path: adminPath('remove-canned-policy'), action: 'admin:DeletePolicy', serve: removePolicy },
];

async function putPolicy(call: AdminCall): Promise<AdminAnswer> {
  const text = (await call.body(maxPolicyBytes)).toString();
  await call.services.identities.putPolicy(call.required('name'), text);
  return nothing;
}

/** Returns the document, with `v=2` also its dates. */
async function policyInfo(call: AdminCall): Promise<AdminAnswer> {
  const name = call.required('name');
  const version = call.query.get('v') ?? '1';
  if (version !== '1' && version !== '2') {
    throw adminError(
      'XCofferInvalidRequest',
      `The parameter v is 1 or 2, not ${JSON.stringify(version.slice(0, 20))}.`,
    );
  }
  const policy = await existingPolicy(call.services.identities, name);
  return json(version === '1' ? jsonOf(policy) : { PolicyName: name, Policy: jsonOf(policy), ...datesOf(policy) });
}

/** Built-in policies have no dates. */
function datesOf({ stored }: NamedDocument) {
  if (stored === undefined) return {};
  const { createdAt, updatedAt } = stored;
  return { CreateDate: new Date(createdAt).toISOString(), UpdateDate: new Date(updatedAt).toISOString() };
}

/** Lists all policies, or with `bucket` those that allow something in it. */
async function listPolicies({ services, query }: AdminCall): Promise<AdminAnswer> {
  const bucket = query.get('bucket');
  const found = new Map<string, unknown>();
  for await (const policy of services.identities.policies()) {
    if (bucket === null || allowsInBucket(policy, bucket)) found.set(policy.name, jsonOf(policy));
  }
  return json(Object.fromEntries(found));
}

/** Removing a missing policy succeeds as in MinIO, so that scripts can repeat. */
async function removePolicy(call: AdminCall): Promise<AdminAnswer> {
  try {
    await call.services.identities.removePolicy(call.required('name'));
  } catch (error) {
    if (!(error instanceof IdentityError && error.code === 'no-such-policy')) throw error;
  }
  return nothing;
}

function jsonOf({ json: text }: NamedDocument): unknown {
  return JSON.parse(text);
}

/** Coffer's own call: explains a decision. */
export const explainRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: cofferPath('explain'),
    action: 'admin:ExplainPolicy',
    serve: (call) =>
      explained(call, {
        user: call.required('user'),
        action: call.required('action'),
        resource: call.query.get('resource') ?? '',
        context: {},
      }),
  },
  {
    method: 'POST',
    path: cofferPath('explain'),
    action: 'admin:ExplainPolicy',
    serve: async (call) => explained(call, await jsonBody(call, question)),
  },
];

const values = z.union([z.string().transform((value) => [value]), z.array(z.string())]);

const question = z.strictObject({
  /** A user name or any access key. */
  user: z.string().min(1),
  action: z.string().min(1),
  resource: z.string().default(''),
  /** Condition keys of the request, e.g. `aws:SourceIp`. */
  context: nameRecord(z.string(), values).default({}),
});

async function explained({ services }: AdminCall, asked: z.infer<typeof question>): Promise<AdminAnswer> {
  const { user, action, resource, context } = asked;
  const principal = await principalNamed(services, user);
  const explanation = await services.access.explain({ principal, action, resource, context });
  return json({ user, ...explanation, text: renderExplanation(explanation) });
}
