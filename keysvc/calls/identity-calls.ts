import { refuse } from './refused.ts';
import { json, type Answer, type Call, lines, madeBy } from './call.ts';
import { matchesListing } from '../../protocol/key-service/names.ts';
import type { NamedPolicy } from '../config/config.ts';

/** Who the caller is and what it may do. Any client certificate may ask. */
export async function describeSelf({ service, identity }: Call): Promise<Answer> {
  if (identity === undefined) throw refuse('noClientCertificate');
  const created_at = new Date(service.startedAt).toISOString();
  if (service.authorizer.isAdmin(identity)) return json({ identity, admin: true, created_at });
  const policy = service.authorizer.policyOf(identity);
  // The generations disagree on the type of `policy`, and both read an answer without it.
  if (policy === undefined) return json({ identity, created_at });
  const { name, allow, deny } = policy;
  return json({ identity, policy_name: name, created_at, policy: { created_at, allow, deny } });
}

/** Whom the configuration names: the superuser and who has a policy. */
export async function describeIdentity({ service, argument }: Call): Promise<Answer> {
  const known = service.authorizer.identities.find(({ identity }) => identity === argument);
  if (known === undefined) throw refuse('identityNotFound');
  const { admin, policy } = known;
  return json({ admin, policy: policy ?? '', ...madeBy(service) });
}

/** An identity that the policy of the caller denies is not told by a wider pattern either. */
export async function listIdentities({ service, argument, identity: caller, route }: Call): Promise<Answer> {
  const mayName = (name: string) => caller === undefined || service.authorizer.allows(caller, `${route.path}/${name}`);
  const known = service.authorizer.identities.filter(
    ({ identity }) => matchesListing(argument, identity) && mayName(identity),
  );
  return lines(
    known
      .sort((a, b) => (a.identity < b.identity ? -1 : 1))
      .map(({ identity, admin, policy }) => ({ identity, admin, policy: policy ?? '', ...madeBy(service) })),
  );
}

/** Policies come from the configuration: they are told, and changed nowhere but there. */
export async function describePolicy(call: Call): Promise<Answer> {
  const { name } = policyOf(call);
  return json({ name, ...madeBy(call.service) });
}

/** `allow` and `deny` are lists, as the first generation sends them. */
export async function readPolicy(call: Call): Promise<Answer> {
  const { name, allow, deny } = policyOf(call);
  return json({ name, allow, deny, ...madeBy(call.service) });
}

/** A name that the policy of the caller denies is not told by a wider pattern either. */
export async function listPolicies({ service, argument, identity, route }: Call): Promise<Answer> {
  const mayName = (name: string) =>
    identity === undefined || service.authorizer.allows(identity, `${route.path}/${name}`);
  const names = service.authorizer.policies
    .map(({ name }) => name)
    .filter((name) => matchesListing(argument, name) && mayName(name));
  return lines(names.sort().map((name) => ({ name, ...madeBy(service) })));
}

function policyOf({ service, argument }: Call): NamedPolicy {
  const policy = service.authorizer.policies.find(({ name }) => name === argument);
  if (policy === undefined) throw refuse('policyNotFound');
  return policy;
}
