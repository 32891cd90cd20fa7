import { IdentityError } from '../identities/identity-error.ts';
import type { NamedDocument } from '../identities/identities.ts';
import { adminPath } from './admin-path.ts';
import { AdminError } from './admin-error.ts';
import { concernsBucket } from './concerns-bucket.ts';
import { existingPolicy } from './policy-names.ts';
import { type AdminAnswer, type AdminCall, json, nothing, type Route } from './route.ts';

/** A policy is kept with its ten earlier forms in one record. Bytes. */
const longestPolicy = 64 * 1024;

export const policyRoutes: readonly Route[] = [
  { method: 'PUT', path: adminPath('add-canned-policy'), action: 'admin:CreatePolicy', serve: putPolicy },
  { method: 'GET', path: adminPath('info-canned-policy'), action: 'admin:GetPolicy', serve: policyInfo },
  { method: 'GET', path: adminPath('list-canned-policies'), action: 'admin:ListUserPolicies', serve: listPolicies },
  { method: 'DELETE', path: adminPath('remove-canned-policy'), action: 'admin:DeletePolicy', serve: removePolicy },
];

async function putPolicy(call: AdminCall): Promise<AdminAnswer> {
  const text = (await call.body(longestPolicy)).toString();
  await call.services.identities.putPolicy(call.required('name'), text);
  return nothing;
}

/** The document alone, or with `v=2` also when it was made and changed. */
async function policyInfo(call: AdminCall): Promise<AdminAnswer> {
  const name = call.required('name');
  const version = call.query.get('v') ?? '1';
  if (version !== '1' && version !== '2') {
    throw new AdminError(
      'XCofferInvalidRequest',
      `The parameter v is 1 or 2, not ${JSON.stringify(version.slice(0, 20))}.`,
    );
  }
  const policy = await existingPolicy(call.services.identities, name);
  return json(version === '1' ? jsonOf(policy) : { PolicyName: name, Policy: jsonOf(policy), ...datesOf(policy) });
}

/** Built-in policies were never made. */
function datesOf({ stored }: NamedDocument) {
  if (stored === undefined) return {};
  const { createdAt, updatedAt } = stored;
  return { CreateDate: new Date(createdAt).toISOString(), UpdateDate: new Date(updatedAt).toISOString() };
}

/** All of them, or with `bucket` those that allow something in it. */
async function listPolicies({ services, query }: AdminCall): Promise<AdminAnswer> {
  const bucket = query.get('bucket');
  const found = new Map<string, unknown>();
  for await (const policy of services.identities.policies()) {
    if (bucket === null || concernsBucket(policy, bucket)) found.set(policy.name, jsonOf(policy));
  }
  return json(Object.fromEntries(found));
}

/** What is not there is removed already, as MinIO says it: scripts repeat themselves. */
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
