import { readFile } from 'node:fs/promises';
import { importPKCS8, SignJWT } from 'jose';
import { z } from 'zod';
import type { GcpKeyStoreSettings } from '../../config/keystore-settings.ts';
import { KeyStoreError } from '../keystore.ts';
import { isLoopback } from '../remote/endpoint.ts';
import { quoted, readJson, tryJson } from '../remote/json-answer.ts';
import type { Remote, RemoteAnswer } from '../remote/remote.ts';
import type { Token } from '../remote/token-source.ts';

const googleTokens = 'https://oauth2.googleapis.com/token';
const assertionSeconds = 3600;

export interface GcpEnvironment {
  /** A key file, as Google's own libraries find it. */
  readonly GOOGLE_APPLICATION_CREDENTIALS?: string | undefined;
  /** Where the metadata server is, for tests and emulators. */
  readonly GCE_METADATA_HOST?: string | undefined;
}

const keyFile = z.object({
  type: z.string(),
  client_email: z.string().optional(),
  private_key_id: z.string().optional(),
  private_key: z.string().optional(),
  token_uri: z.string().optional(),
});
const tokenAnswer = z.object({ access_token: z.string().min(1), expires_in: z.number() });
const errorAnswer = z.object({ error: z.string(), error_description: z.string().optional() });

interface ServiceAccount {
  readonly clientEmail: string;
  readonly privateKeyId: string;
  readonly privateKey: string;
  readonly tokenUri: string;
}

/** A token, by the settings' service account, the key file of the environment, or the identity of the machine. */
export async function logInToGcp(
  settings: GcpKeyStoreSettings,
  remote: Remote,
  environment: GcpEnvironment,
): Promise<Token> {
  if (settings.credentials !== undefined) {
    return byServiceAccount({ ...settings.credentials, tokenUri: googleTokens }, settings.scopes, remote);
  }
  const file = environment.GOOGLE_APPLICATION_CREDENTIALS;
  if (file !== undefined && file !== '') return byServiceAccount(await readKeyFile(file), settings.scopes, remote);
  return byMachine(settings.scopes, remote, environment);
}

/** @see https://developers.google.com/identity/protocols/oauth2/service-account#httprest */
async function byServiceAccount(account: ServiceAccount, scopes: readonly string[], remote: Remote): Promise<Token> {
  const { clientEmail, privateKeyId, privateKey, tokenUri } = account;
  const now = Math.floor(remote.clock.now() / 1000);
  let assertion: string;
  try {
    assertion = await new SignJWT({ scope: scopes.join(' ') })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(privateKeyId === '' ? {} : { kid: privateKeyId }) })
      .setIssuer(clientEmail)
      .setAudience(tokenUri)
      .setIssuedAt(now)
      .setExpirationTime(now + assertionSeconds)
      .sign(await importPKCS8(privateKey, 'RS256'));
  } catch {
    // The cause may quote the key.
    throw new KeyStoreError('refused', `the private key of the service account ${clientEmail} is no PEM of PKCS #8`);
  }
  const answer = await remote.ask({
    method: 'POST',
    url: tokenUri,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }).toString(),
    of: `Google's login at ${tokenUri}`,
  });
  const hint = 'is the service account enabled, its key not deleted, and the clock right?';
  return tokenOf(answer, remote, `the service account ${clientEmail}`, hint);
}

/** @see https://cloud.google.com/compute/docs/access/authenticate-workloads#applications */
async function byMachine(scopes: readonly string[], remote: Remote, environment: GcpEnvironment): Promise<Token> {
  const host = environment.GCE_METADATA_HOST ?? 'metadata.google.internal';
  const query = new URLSearchParams({ scopes: scopes.join(',') }).toString();
  const answer = await remote.ask({
    method: 'GET',
    url: `http://${host}/computeMetadata/v1/instance/service-accounts/default/token?${query}`,
    headers: { 'metadata-flavor': 'Google' },
    of:
      "the metadata server of Google's machines (on another machine set keystore.gcp.secretmanager.credentials or " +
      'GOOGLE_APPLICATION_CREDENTIALS)',
  });
  return tokenOf(answer, remote, 'the identity of this machine', 'has it a service account?');
}

async function readKeyFile(file: string): Promise<ServiceAccount> {
  const where = `the key file ${file} of GOOGLE_APPLICATION_CREDENTIALS`;
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    throw new KeyStoreError('refused', `cannot read ${where}: ${(cause as Error).message}`, { cause });
  }
  const found = tryJson(text, keyFile);
  if (found?.type !== 'service_account' || found.client_email === undefined || found.private_key === undefined) {
    throw new KeyStoreError(
      'refused',
      `${where} is not the key of a service account${found === undefined ? '' : ` but of type "${found.type}"`}`,
    );
  }
  const tokenUri = found.token_uri ?? googleTokens;
  if (!URL.canParse(tokenUri) || (!tokenUri.startsWith('https://') && !isLoopback(tokenUri))) {
    throw new KeyStoreError('refused', `${where} has a token_uri that does not begin with https://`);
  }
  return {
    clientEmail: found.client_email,
    privateKeyId: found.private_key_id ?? '',
    privateKey: found.private_key,
    tokenUri,
  };
}

function tokenOf(answer: RemoteAnswer, remote: Remote, who: string, hint: string): Token {
  if (answer.status === 200) {
    const { access_token, expires_in } = readJson(answer.text, tokenAnswer, "Google's login");
    return { value: access_token, expiresAt: remote.clock.now() + expires_in * 1000 };
  }
  const said = tryJson(answer.text, errorAnswer);
  const message = quoted(said?.error_description ?? said?.error ?? `status ${answer.status}`);
  const code = answer.status === 429 || answer.status >= 500 ? 'unavailable' : 'refused';
  throw new KeyStoreError(code, `Google does not log ${who} in: ${message} (${hint})`);
}
