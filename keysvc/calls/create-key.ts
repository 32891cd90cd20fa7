import { makeKey } from '../keys/key.ts';
import { empty } from './call.ts';
import type { Answer, Call } from './call.ts';
import { orRefuse } from './key-store-refusal.ts';

export async function createKey({ service, argument, identity }: Call): Promise<Answer> {
  const key = makeKey(new Date(service.now()), identity);
  await orRefuse(service.keyring.create(argument, key), 'createFailed');
  return empty;
}
