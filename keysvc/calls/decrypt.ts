import { keyServiceLimits } from '../../protocol/key-service/routes.ts';
import { bulkDecryptRequest, decryptRequest } from '../../protocol/key-service/payloads.ts';
import { readJsonBody } from '../http/read-body.ts';
import { refuse } from '../http/refused.ts';
import type { Key } from '../keys/key.ts';
import { NotAuthentic, unseal } from '../keys/seal.ts';
import { json } from './call.ts';
import type { Answer, Call } from './call.ts';
import { orRefuse } from './key-store-refusal.ts';

export async function decrypt({ service, argument, request, route }: Call): Promise<Answer> {
  const { ciphertext, context } = await readJsonBody(request, decryptRequest, route.maxBody);
  const key = await orRefuse(service.keyring.get(argument), 'accessFailed');
  return json(decryptOne(key, ciphertext, context));
}

/** Several at once, in their order; the first that fails fails the call. */
export async function bulkDecrypt({ service, argument, request, route }: Call): Promise<Answer> {
  const ciphertexts = await readJsonBody(request, bulkDecryptRequest, route.maxBody);
  if (ciphertexts.length > keyServiceLimits.maxCiphertexts) throw refuse('tooManyCiphertexts');
  const key = await orRefuse(service.keyring.get(argument), 'accessFailed');
  return json(ciphertexts.map(({ ciphertext, context }) => decryptOne(key, ciphertext, context)));
}

function decryptOne(key: Key, ciphertext: Buffer, context = Buffer.alloc(0)): { plaintext: string } {
  try {
    return { plaintext: unseal(key, ciphertext, context).toString('base64') };
  } catch (error) {
    if (error instanceof NotAuthentic) throw refuse('notAuthentic');
    throw error;
  }
}
