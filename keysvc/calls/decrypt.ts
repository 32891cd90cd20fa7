import { keyServiceLimits } from '../../protocol/key-service/routes.ts';
import { bulkDecryptRequest, decryptRequest } from '../../protocol/key-service/payloads.ts';
import { readJsonBody } from '../http/read-body.ts';
import { refuse } from '../http/refused.ts';
import type { KeyVersions } from '../keys/key-versions.ts';
import { NotAuthentic } from '../keys/seal.ts';
import { UnknownVersion, unsealWithVersions } from '../keys/unseal-with-versions.ts';
import { json } from './call.ts';
import type { Answer, Call } from './call.ts';
import { orRefuse } from './key-store-refusal.ts';

export async function decrypt(call: Call): Promise<Answer> {
  const ciphertext = await readJsonBody(call.request, decryptRequest, call.route.maxBody);
  return json(await withVersions(call, (versions) => decryptOne(versions, ciphertext)));
}

/** Several at once, in their order; the first that fails fails the call. */
export async function bulkDecrypt(call: Call): Promise<Answer> {
  const ciphertexts = await readJsonBody(call.request, bulkDecryptRequest, call.route.maxBody);
  if (ciphertexts.length > keyServiceLimits.maxCiphertexts) throw refuse('tooManyCiphertexts');
  return json(
    await withVersions(call, (versions) => ciphertexts.map((ciphertext) => decryptOne(versions, ciphertext))),
  );
}

function decryptOne(
  versions: KeyVersions,
  { ciphertext, context }: { readonly ciphertext: Buffer; readonly context?: Buffer | undefined },
): { plaintext: string } {
  return { plaintext: unsealWithVersions(versions, ciphertext, context ?? Buffer.alloc(0)).toString('base64') };
}

/** What names a version that is not in memory may be of one that another key server added: then the store is asked. */
async function withVersions<T>(
  { service: { keyring }, argument }: Call,
  open: (versions: KeyVersions) => T,
): Promise<T> {
  try {
    const versions = await orRefuse(keyring.versions(argument), 'accessFailed');
    try {
      return open(versions);
    } catch (error) {
      if (!(error instanceof UnknownVersion)) throw error;
      return open(await orRefuse(keyring.reread(argument), 'accessFailed'));
    }
  } catch (error) {
    if (error instanceof NotAuthentic) throw refuse('notAuthentic');
    throw error;
  }
}
