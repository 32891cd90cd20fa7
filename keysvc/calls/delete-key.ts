import { empty } from './call.ts';
import type { Answer, Call } from './call.ts';
import { orRefuse } from './key-store-refusal.ts';

export async function deleteKey({ service, argument }: Call): Promise<Answer> {
  await orRefuse(service.keyring.delete(argument), 'deleteFailed');
  return empty;
}
