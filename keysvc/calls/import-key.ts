import { importRequest } from '../../protocol/key-service/payloads.ts';
import { readJsonBody } from '../http/read-body.ts';
import { refuse, Refused } from '../http/refused.ts';
import { keyBytes, keyOf } from '../keys/key.ts';
import type { KeyAlgorithm } from '../keys/key.ts';
import { empty } from './call.ts';
import type { Answer, Call } from './call.ts';
import { orRefuse } from './key-store-refusal.ts';

/** Names of the ciphers in either generation. */
const algorithms: Readonly<Record<string, KeyAlgorithm>> = {
  AES256: 'AES256-GCM_SHA256',
  'AES256-GCM_SHA256': 'AES256-GCM_SHA256',
  ChaCha20: 'XCHACHA20-POLY1305',
  'XCHACHA20-POLY1305': 'XCHACHA20-POLY1305',
};

/** Takes in a key that was made elsewhere. It is never written over one that is there. */
export async function importKey({ service, argument, identity, request, route }: Call): Promise<Answer> {
  const { generation, bytes, algorithm: asked = 'AES256' } = await readJsonBody(request, importRequest, route.maxBody);
  const algorithm = Object.hasOwn(algorithms, asked) ? algorithms[asked] : undefined;
  if (algorithm === undefined) throw new Refused(406, `algorithm '${asked.slice(0, 80)}' is not supported`);
  if (bytes.length !== keyBytes) {
    throw generation === 1 ? refuse('invalidKeySize') : new Refused(406, `invalid key size for '${asked}'`);
  }
  const key = keyOf(bytes, algorithm, new Date(service.now()), identity);
  await orRefuse(service.keyring.create(argument, key), 'createFailed');
  return empty;
}
