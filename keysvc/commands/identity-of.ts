import { readFile } from 'node:fs/promises';
import { looksLikeApiKey, parseApiKey } from '../../protocol/key-service/api-key.ts';
import { identityOfCertificate } from '../../platform/certificates/certificate-identity.ts';

/** `keysvc identity of`: the identity of a certificate file or an API key. */
export async function identityOf(argument: string): Promise<string> {
  if (looksLikeApiKey(argument)) return parseApiKey(argument).identity;
  const pem = await readFile(argument);
  try {
    return identityOfCertificate(pem);
  } catch (error) {
    throw new Error(`${argument} is no certificate: ${(error as Error).message}`, { cause: error });
  }
}
