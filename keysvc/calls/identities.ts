import { matchesListing } from '../../protocol/key-service/names.ts';
import { refuse } from '../http/refused.ts';
import { json, lines, madeBy } from './call.ts';
import type { Answer, Call } from './call.ts';

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
