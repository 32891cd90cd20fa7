import { callError } from './call-error.ts';
import { json, type Answer, type Call, lines, madeBy } from './call.ts';
import { matchesListing } from '../../protocol/key-service/names.ts';
import type { NamedPolicy } from '../config/config.ts';

/** Describes the caller and its permissions. Any client certificate may call it. */
export async function describeSelf({ service, identity }: Call): Promise<Answer> {
  if (identity === undefined) throw callError('noClientCertificate');
  const created_at = new Date(service.startedAt).toISOString();
  if (service.authorizer.isAdmin(identity)) return json({ identity, admin: true, created_at });
  const policy = service.authorizer.policyOf(identity);
  // The generations of the protocol have different types of `policy`, and both read an answer without it.
  if (policy === undefined) return json({ identity, created_at });
  const { name, allow, deny } = policy;
  return json({ identity, policy_name: name, created_at, policy: { created_at, allow, deny } });
}

/** Describes an identity of the configuration: the superuser or one with a policy. */
export async function describeIdentity({ service, argument }: Call): Promise<Answer> {
  const known = service.authorizer.identities.find(({ identity }) => identity === argument);
  if (known === undefined) throw callError('identityNotFound');
  const { admin, policy } = known;
  return json({ admin, policy: policy ?? '', ...madeBy(service) });
}

/** Lists identities. It omits those that the policy of the caller denies, also for a wider pattern. */
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

/** Describes a policy. Policies are in the configuration, so the calls only read them. */
export async function describePolicy(call: Call): Promise<Answer> {
  const { name } = policyOf(call);
  return json({ name, ...madeBy(call.service) });
}

/** `allow` and `deny` are lists, as in the first generation of the protocol. */
export async function readPolicy(call: Call): Promise<Answer> {
  const { name, allow, deny } = policyOf(call);
  return json({ name, allow, deny, ...madeBy(call.service) });
}

/** Lists policies. It omits those that the policy of the caller denies, also for a wider pattern. */
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
  if (policy === undefined) throw callError('policyNotFound');
  return policy;
}
