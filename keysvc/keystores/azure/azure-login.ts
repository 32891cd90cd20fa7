import { fileErrorReason } from '../../../platform/errors/system-error.ts';
import { readTokenFile } from '../../../platform/settings/read-setting-file.ts';
import { ClientAssertionCredential, ClientSecretCredential, ManagedIdentityCredential } from '@azure/identity';
import { z } from 'zod';
import type { AzureLogin } from '../keystore-settings.ts';
import { KeyError } from '../keystore.ts';
import { quoted, tryJson } from '../remote/json-answer.ts';
import type { Remote, RemoteAnswer } from '../remote/remote.ts';
import type { Token } from '../remote/token-source.ts';
import { AzureTransport, withoutRetries } from './azure-transport.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Describes the login for messages, without its secret. */
export function describeLogin(login: AzureLogin): string {
  switch (login.kind) {
    case 'client-secret':
      return `the application ${login.clientId}`;
    case 'managed-identity':
      return login.clientId === undefined
        ? 'the managed identity of this machine'
        : `the managed identity ${login.clientId}`;
    case 'workload-identity':
      return `the workload identity${login.clientId === undefined ? '' : ` ${login.clientId}`}`;
  }
}

interface AzureTokenRequest {
  readonly login: AzureLogin;
  readonly scope: string;
  /** The authority of the configuration, `https://HOST`. */
  readonly authority?: string;
}

/**
 * Requests a token for a scope.
 *
 * @throws KeyError `refused`, with what to correct
 */
export async function logInToAzure(
  { login, scope, authority }: AzureTokenRequest,
  remote: Remote,
  environment: Environment,
): Promise<Token> {
  const authorityHost = authority ?? authorityOf(scope, environment);
  const isManaged = login.kind === 'managed-identity';
  const transport = new AzureTransport(
    remote,
    isManaged
      ? "the managed-identity service of this machine (is it one of Azure's?)"
      : `Microsoft Entra ID at ${authorityHost}`,
  );
  // The configuration or the list below names the authority, so instance discovery is not needed.
  const options = { ...withoutRetries, httpClient: transport, authorityHost, disableInstanceDiscovery: true };
  try {
    const credential = await credentialOf(login, options, environment);
    // Made anew for each token, so that its cache cannot return a rejected one. That of managed identities is kept: Azure returns the same
    // token until it ends.
    const { token, expiresOnTimestamp } = await credential.getToken(scope);
    return { value: token, expiresAt: remote.clock.now() + expiresOnTimestamp - Date.now() };
  } catch (error) {
    if (error instanceof KeyError) throw error;
    // The cause is dropped, since it may quote the request.
    throw loginError(transport.last, login);
  }
}

type Options = ConstructorParameters<typeof ClientSecretCredential>[3];

async function credentialOf(login: AzureLogin, options: Options, environment: Environment) {
  switch (login.kind) {
    case 'client-secret':
      return new ClientSecretCredential(login.tenantId, login.clientId, login.clientSecret, options);
    case 'workload-identity':
      return workloadIdentity(login, options, environment);
    case 'managed-identity':
      return new ManagedIdentityCredential({
        ...options,
        ...(login.clientId === undefined ? {} : { clientId: login.clientId }),
      });
  }
}

/**
 * The token of the service account, which the webhook mounts, replaces the secret. It is read for each login, since Kubernetes renews it in
 * place; Azure's own class caches it for five minutes.
 *
 * @see https://azure.github.io/azure-workload-identity/docs/topics/service-account-labels-and-annotations.html
 */
async function workloadIdentity(
  login: Extract<AzureLogin, { kind: 'workload-identity' }>,
  options: Options,
  environment: Environment,
): Promise<ClientAssertionCredential> {
  const given = (value: string | undefined, variable: string, setting: string): string => {
    const found = value ?? environment[variable];
    if (found !== undefined && found !== '') return found;
    throw new KeyError(
      'refused',
      `workload identity: neither keystore.azure.keyvault.workload_identity.${setting} nor ${variable} is set: ` +
        'is the pod labelled azure.workload.identity/use: "true", and its service account annotated?',
    );
  };
  const tokenFile = given(login.tokenFile, 'AZURE_FEDERATED_TOKEN_FILE', 'token_file');
  const tenantId = given(login.tenantId, 'AZURE_TENANT_ID', 'tenant_id');
  const clientId = given(login.clientId, 'AZURE_CLIENT_ID', 'client_id');
  let assertion: string;
  try {
    assertion = await readTokenFile(tokenFile);
  } catch (cause) {
    const reason = fileErrorReason(cause);
    throw new KeyError('refused', `workload identity: cannot read the token ${tokenFile}: ${reason}`, { cause });
  }
  return new ClientAssertionCredential(tenantId, clientId, () => Promise.resolve(assertion), options);
}

/** Returns the text of an answer that is not Entra's, without the secret that it may quote. */
function otherText(text: string, login: AzureLogin): string {
  const said = tryJson(text, otherAnswer)?.error.message ?? text;
  const safe = login.kind === 'client-secret' ? said.replaceAll(login.clientSecret, '…') : said;
  return safe.trim() === '' ? '' : `: ${quoted(safe)}`;
}

const otherAnswer = z.object({ error: z.object({ message: z.string() }) });
const errorAnswer = z.object({ error: z.string(), error_description: z.string().optional() });

/** Uses the last answer, since the error of Azure's library hides the code. */
function loginError(last: RemoteAnswer | KeyError | undefined, login: AzureLogin): KeyError {
  const who = describeLogin(login);
  if (last instanceof KeyError) return last;
  if (last === undefined) {
    return new KeyError(
      'refused',
      `Azure does not log ${who} in: tenant_id, client_id, authority or AZURE_AUTHORITY_HOST (https://…) is not of its form`,
    );
  }
  if (last.status === 200) {
    return new KeyError(
      'unavailable',
      `Azure does not log ${who} in: its answer holds no token. Is the authority right?`,
    );
  }
  const said = tryJson(last.text, errorAnswer);
  const description = said?.error_description ?? said?.error ?? `status ${last.status}${otherText(last.text, login)}`;
  // A refusal is final only in the words of Entra: a proxy before it may answer anything.
  const code = said === undefined || last.status === 429 || last.status >= 500 ? 'unavailable' : 'refused';
  return new KeyError(code, `Azure does not log ${who} in: ${explainEntraError(description)}${quoted(description)}`);
}

/**
 * Each cloud of Azure has its own authority. The authority of a challenge is ignored, since a false vault could request the secret.
 *
 * @see https://learn.microsoft.com/entra/identity-platform/authentication-national-cloud
 */
const authorities: Readonly<Record<string, string>> = {
  'vault.azure.cn': 'https://login.chinacloudapi.cn',
  'vault.usgovcloudapi.net': 'https://login.microsoftonline.us',
};

function authorityOf(scope: string, environment: Environment): string {
  const host = environment['AZURE_AUTHORITY_HOST'];
  if (host !== undefined && host !== '') return host.replace(/\/$/, '');
  return authorities[new URL(scope).hostname] ?? 'https://login.microsoftonline.com';
}

/**
 * Advice for frequent login errors, by Entra's code.
 *
 * @see https://learn.microsoft.com/entra/identity-platform/reference-error-codes
 */
const advice: ReadonlyMap<string, string> = new Map([
  ['AADSTS7000215', 'the client secret is wrong: take the value of the secret, not its ID. '],
  ['AADSTS7000222', 'the client secret has expired: make a new one in the registered application. '],
  ['AADSTS700016', 'there is no such application in this tenant: check client_id and tenant_id. '],
  ['AADSTS90002', 'there is no such tenant: check tenant_id. '],
  ['AADSTS900023', 'tenant_id is neither a directory ID nor a domain. '],
  [
    'AADSTS70021',
    'no federated credential of the application fits the service account: check its issuer and subject. ',
  ],
  ['AADSTS700211', 'no federated credential of the application has the issuer of this cluster. '],
  ['AADSTS700213', 'no federated credential of the application has this service account as its subject. '],
  ['AADSTS700024', 'the token of the service account has expired: is the clock right? '],
]);

/** Returns the advice for an error with a space at the end, or an empty text. */
function explainEntraError(description: string): string {
  const code = /\bAADSTS\d+/.exec(description)?.[0];
  return code === undefined ? '' : (advice.get(code) ?? '');
}
