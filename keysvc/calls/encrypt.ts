import { encryptRequest } from '../../protocol/key-service/payloads.ts';
import { readJsonBody } from '../http/read-body.ts';
import { seal } from '../keys/seal.ts';
import { json } from './call.ts';
import type { Answer, Call } from './call.ts';
import { orRefuse } from './key-store-refusal.ts';

export async function encrypt({ service, argument, request, route }: Call): Promise<Answer> {
  const { plaintext, context } = await readJsonBody(request, encryptRequest, route.maxBody);
  const key = await orRefuse(service.keyring.get(argument), 'accessFailed');
  const ciphertext = seal(key, plaintext, context ?? Buffer.alloc(0));
  return json({ ciphertext: ciphertext.toString('base64'), version: key.id });
}
