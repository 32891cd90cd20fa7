import { randomBytes, createHmac } from 'node:crypto';
import {
  generateRequest,
  encryptRequest,
  bulkDecryptRequest,
  decryptRequest,
  hmacRequest,
} from '../../protocol/key-service/payloads.ts';
import { readJsonBody, json, type Answer, type Call } from './call.ts';
import { seal, unsealWithVersions } from '../keys/seal.ts';
import { KeyError } from '../keystores/keystore.ts';
import { withCallErrors, callError } from './call-error.ts';
import { keyServiceLimits } from '../../protocol/key-service/routes.ts';
import type { KeyVersions } from '../keys/key-versions.ts';

const dataKeyBytes = 32;
const noContext = Buffer.alloc(0);

/** Makes a data key and returns it in plain and encrypted form. The service stores neither. */
export async function generateKey({ service, argument, request, route }: Call): Promise<Answer> {
  const { context } = await readJsonBody(request, generateRequest, route.maxBody);
  const key = await withCallErrors(service.keyring.get(argument), 'accessFailed');
  const plaintext = randomBytes(dataKeyBytes);
  const ciphertext = seal(key, plaintext, context ?? noContext);
  return json({ plaintext: plaintext.toString('base64'), ciphertext: ciphertext.toString('base64'), version: key.id });
}

export async function encrypt({ service, argument, request, route }: Call): Promise<Answer> {
  const { plaintext, context } = await readJsonBody(request, encryptRequest, route.maxBody);
  const key = await withCallErrors(service.keyring.get(argument), 'accessFailed');
  const ciphertext = seal(key, plaintext, context ?? Buffer.alloc(0));
  return json({ ciphertext: ciphertext.toString('base64'), version: key.id });
}

export async function decrypt(call: Call): Promise<Answer> {
  const ciphertext = await readJsonBody(call.request, decryptRequest, call.route.maxBody);
  return json(await withVersions(call, (versions) => decryptOne(versions, ciphertext)));
}

/** Decrypts several ciphertexts in their order. The first failure fails the call. */
export async function bulkDecrypt(call: Call): Promise<Answer> {
  const ciphertexts = await readJsonBody(call.request, bulkDecryptRequest, call.route.maxBody);
  if (ciphertexts.length > keyServiceLimits.maxCiphertexts) throw callError('tooManyCiphertexts');
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

/**
 * Runs `open` with the versions in memory. A ciphertext with an unknown version may come from another key server that added one, so the
 * store is read again.
 */
async function withVersions<T>({ service, argument }: Call, open: (versions: KeyVersions) => T): Promise<T> {
  const { keyring } = service;
  const attempt = async () => {
    const versions = await keyring.versions(argument);
    try {
      return open(versions);
    } catch (error) {
      if (!(error instanceof KeyError && error.code === 'unknown-version')) throw error;
      return open(await keyring.reread(argument));
    }
  };
  return withCallErrors(attempt(), 'accessFailed');
}

/** Computes the HMAC-SHA256 of a message with the HMAC key, which serves for nothing else. */
export async function hmac({ service, argument, request, route }: Call): Promise<Answer> {
  const { message } = await readJsonBody(request, hmacRequest, route.maxBody);
  const { hmacKey } = await withCallErrors(service.keyring.get(argument), 'accessFailed');
  if (hmacKey === undefined) throw callError('noHmac');
  return json({ hmac: createHmac('sha256', hmacKey).update(message).digest('base64') });
}
