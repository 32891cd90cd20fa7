import { createHmac } from 'node:crypto';
import { hmacRequest } from '../../protocol/key-service/payloads.ts';
import { readJsonBody } from '../http/read-body.ts';
import { refuse } from '../http/refused.ts';
import { json } from './call.ts';
import type { Answer, Call } from './call.ts';
import { orRefuse } from './key-store-refusal.ts';

/** HMAC-SHA256 of a message with a key that is kept for nothing else. */
export async function hmac({ service, argument, request, route }: Call): Promise<Answer> {
  const { message } = await readJsonBody(request, hmacRequest, route.maxBody);
  const { hmacKey } = await orRefuse(service.keyring.get(argument), 'accessFailed');
  if (hmacKey === undefined) throw refuse('noHmac');
  return json({ hmac: createHmac('sha256', hmacKey).update(message).digest('base64') });
}
