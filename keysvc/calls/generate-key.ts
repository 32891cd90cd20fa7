import { randomBytes } from 'node:crypto';
import { generateRequest } from '../../protocol/key-service/payloads.ts';
import { readJsonBody } from '../http/read-body.ts';
import { seal } from '../keys/seal.ts';
import { json } from './call.ts';
import type { Answer, Call } from './call.ts';
import { orRefuse } from './key-store-refusal.ts';

const dataKeyBytes = 32;
const noContext = Buffer.alloc(0);

/** A fresh data key, plain and sealed. The service keeps neither. */
export async function generateKey({ service, argument, request, route }: Call): Promise<Answer> {
  const { context } = await readJsonBody(request, generateRequest, route.maxBody);
  const key = await orRefuse(service.keyring.get(argument), 'accessFailed');
  const plaintext = randomBytes(dataKeyBytes);
  const ciphertext = seal(key, plaintext, context ?? noContext);
  return json({ plaintext: plaintext.toString('base64'), ciphertext: ciphertext.toString('base64'), version: key.id });
}
