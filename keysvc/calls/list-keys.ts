import { matchesListing } from '../../protocol/key-service/names.ts';
import { writeKeyList } from '../../protocol/key-service/payloads.ts';
import type { Answer, Call } from './call.ts';
import { refusalOf } from './key-store-refusal.ts';

/** Lists what the pattern matches and the policy does not deny: a denied name is not told by a wider pattern either. */
export async function listKeys({ service, argument, identity, route }: Call): Promise<Answer> {
  const names: string[] = [];
  try {
    for await (const name of service.keyring.list()) {
      if (!matchesListing(argument, name)) continue;
      if (identity === undefined || service.authorizer.allows(identity, `${route.path}/${name}`)) names.push(name);
    }
  } catch (error) {
    throw refusalOf(error, 'listFailed');
  }
  return { kind: 'lines', text: writeKeyList(names.sort()) };
}
