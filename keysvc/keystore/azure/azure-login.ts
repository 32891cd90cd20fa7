import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { AzureLogin } from '../../config/keystore-settings.ts';
import { KeyStoreError } from '../keystore.ts';
import { quoted, readJson, tryJson } from '../remote/json-answer.ts';
import type { Remote, RemoteAnswer, RemoteRequest } from '../remote/remote.ts';
import type { Token } from '../remote/token-source.ts';
import { explainEntraError } from './entra-errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Who logs in, for messages: never with its secret. */
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

/** A token for a scope. Errors with `refused` where the login is wrong, saying what to mend. */
export async function logInToAzure(
  login: AzureLogin,
  scope: string,
  remote: Remote,
  environment: Environment,
): Promise<Token> {
  switch (login.kind) {
    case 'client-secret': {
      const { tenantId, clientId, clientSecret } = login;
      return askEntra({ tenantId, clientId, scope, proof: { client_secret: clientSecret } }, remote, environment);
    }
    case 'workload-identity':
      return workloadIdentity(login, scope, remote, environment);
    case 'managed-identity':
      return managedIdentity(login.clientId, scope, remote, environment);
  }
}

interface EntraLogin {
  readonly tenantId: string;
  readonly clientId: string;
  readonly scope: string;
  readonly proof: Readonly<Record<string, string>>;
}

/** @see https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow */
async function askEntra(
  { tenantId, clientId, scope, proof }: EntraLogin,
  remote: Remote,
  environment: Environment,
): Promise<Token> {
  const authority = authorityOf(scope, environment);
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId, scope, ...proof });
  const answer = await remote.ask({
    method: 'POST',
    url: `${authority}/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
    of: `Microsoft Entra ID at ${authority}`,
  });
  return tokenOf(answer, remote, `the application ${clientId} of the tenant ${tenantId}`);
}

/**
 * The service account's token, which the webhook mounts, stands for the secret. It is read each time, since it is renewed in place.
 *
 * @see https://azure.github.io/azure-workload-identity/docs/topics/service-account-labels-and-annotations.html
 */
async function workloadIdentity(
  login: Extract<AzureLogin, { kind: 'workload-identity' }>,
  scope: string,
  remote: Remote,
  environment: Environment,
): Promise<Token> {
  const given = (value: string | undefined, variable: string, setting: string): string => {
    const found = value ?? environment[variable];
    if (found !== undefined && found !== '') return found;
    throw new KeyStoreError(
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
    assertion = (await readFile(tokenFile, 'utf8')).trim();
  } catch (cause) {
    const reason = (cause as Error).message;
    throw new KeyStoreError('refused', `workload identity: cannot read the token ${tokenFile}: ${reason}`, { cause });
  }
  const proof = {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
  };
  return askEntra({ tenantId, clientId, scope, proof }, remote, environment);
}

/**
 * The machine's own service (IMDS), or that of App Service and Container Apps where the environment names one.
 *
 * @see https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token
 * @see https://learn.microsoft.com/azure/app-service/overview-managed-identity#rest-endpoint-reference
 */
async function managedIdentity(
  clientId: string | undefined,
  scope: string,
  remote: Remote,
  environment: Environment,
): Promise<Token> {
  const query = new URLSearchParams({ resource: scope.replace(/\/\.default$/, '') });
  if (clientId !== undefined) query.set('client_id', clientId);
  const { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: header } = environment;
  let where: Pick<RemoteRequest, 'url' | 'headers'>;
  if (endpoint !== undefined && header !== undefined) {
    query.set('api-version', '2019-08-01');
    where = { url: `${endpoint}?${query.toString()}`, headers: { 'x-identity-header': header } };
  } else {
    query.set('api-version', '2018-02-01');
    const host = environment['AZURE_POD_IDENTITY_AUTHORITY_HOST'] ?? 'http://169.254.169.254';
    where = { url: `${host}/metadata/identity/oauth2/token?${query.toString()}`, headers: { metadata: 'true' } };
  }
  const of = "the managed-identity service of this machine (is it one of Azure's?)";
  return tokenOf(
    await remote.ask({ method: 'GET', ...where, of }),
    remote,
    describeLogin({ kind: 'managed-identity' }),
  );
}

/** IMDS writes numbers as texts. */
const tokenAnswer = z.object({ access_token: z.string().min(1), expires_in: z.coerce.number().positive() });
const errorAnswer = z.object({ error: z.string(), error_description: z.string().optional() });

function tokenOf(answer: RemoteAnswer, remote: Remote, who: string): Token {
  if (answer.status === 200) {
    const { access_token, expires_in } = readJson(answer.text, tokenAnswer, 'the login at Azure');
    return { value: access_token, expiresAt: remote.clock.now() + expires_in * 1000 };
  }
  const said = tryJson(answer.text, errorAnswer);
  const description = said?.error_description ?? said?.error ?? `status ${answer.status}`;
  const code = answer.status === 429 || answer.status >= 500 ? 'unavailable' : 'refused';
  throw new KeyStoreError(
    code,
    `Azure does not log ${who} in: ${explainEntraError(description)}${quoted(description)}`,
  );
}

/**
 * Each cloud of Azure has its own authority; the challenge's is never followed, or a false vault could have the secret sent to itself.
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
