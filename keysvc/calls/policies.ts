import { matchesListing } from '../../protocol/key-service/names.ts';
import type { NamedPolicy } from '../config/config.ts';
import { refuse } from '../http/refused.ts';
import { json, lines, madeBy } from './call.ts';
import type { Answer, Call } from './call.ts';

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
