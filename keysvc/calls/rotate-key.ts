import { Refused } from '../http/refused.ts';
import { maxRotatedName } from '../keys/key-versions.ts';
import { json } from './call.ts';
import type { Answer, Call } from './call.ts';
import { orRefuse } from './key-store-refusal.ts';

/** Adds a version to a key, which seals from now on; what older versions sealed stays readable. A call of ours: other servers of the protocol have none. */
export async function rotateKey({ service, argument, identity }: Call): Promise<Answer> {
  if (argument.length > maxRotatedName) {
    throw new Refused(400, `invalid argument: a key whose name is longer than ${maxRotatedName} cannot be rotated`);
  }
  const rotated = service.keyring.rotate(argument, new Date(service.now()), identity);
  const { newest, all } = await orRefuse(rotated, 'createFailed');
  return json({ version: newest.id, versions: all.length });
}
