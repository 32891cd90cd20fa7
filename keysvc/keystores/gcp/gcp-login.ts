import { SecretManagerServiceClient } from '@google-cloud/secret-manager';
import { GoogleAuth, JWT, type AuthClient } from 'google-auth-library';
import type { GcpKeyStoreSettings } from '../keystore-settings.ts';
import { z } from 'zod';
import { KeyError } from '../keystore.ts';
import { quoted } from '../remote/json-answer.ts';
import type { GcpTransport } from './gcp-transport.ts';

/** The timeout of a token in milliseconds. Google's library calls the metadata server itself, without a limit on a machine of Google. */
const loginMs = 15_000;

export interface LoggedIn {
  readonly login: AuthClient;
  readonly secrets: SecretManagerServiceClient;
}

/** Google's client with its login. */
export async function logInToGcp(settings: GcpKeyStoreSettings, transport: GcpTransport): Promise<LoggedIn> {
  const { hostname, port, protocol } = new URL(settings.endpoint);
  // Logs in before the client is made: inside the client a failed login is an unhandled rejection.
  const login = await within(loginMs, logIn(settings, transport));
  const secrets = new SecretManagerServiceClient({
    fallback: true,
    apiEndpoint: hostname,
    port: port === '' ? 443 : Number(port),
    protocol: protocol.slice(0, -1),
    projectId: settings.projectId,
    universeDomain: login.universeDomain,
    authClient: login,
  });
  return { login, secrets };
}

/** Uses the key of the settings, or what Google's own programs find: a key file, or the identity of the machine or pod. */
async function logIn(
  { credentials, projectId, scopes }: GcpKeyStoreSettings,
  transport: GcpTransport,
): Promise<AuthClient> {
  const transporterOptions = { fetchImplementation: transport.fetch, retry: false };
  if (credentials === undefined) {
    // The project is given, since federated identities would need the Resource Manager's API to find it.
    return new GoogleAuth({ projectId, scopes: [...scopes], clientOptions: { transporterOptions } }).getClient();
  }
  return new JWT({
    email: credentials.clientEmail,
    key: credentials.privateKey,
    ...(credentials.privateKeyId === '' ? {} : { keyId: credentials.privateKeyId }),
    scopes: [...scopes],
    transporterOptions,
  });
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new KeyError('unreachable', "Google's login does not answer")), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the current token, or a new one. */
export async function currentToken(login: AuthClient): Promise<void> {
  await within(loginMs, login.getRequestHeaders());
}

/** The fields of the errors of Google's library. */
interface LoginFailure extends Error {
  readonly status?: number;
  readonly code?: unknown;
  readonly response?: { readonly data?: unknown };
}

/** The errors by which Google refuses a login, of OAuth and of its APIs. */
const refusals: ReadonlySet<string> = new Set([
  'access_denied',
  'invalid_client',
  'invalid_grant',
  'invalid_request',
  'invalid_scope',
  'invalid_target',
  'unauthorized_client',
  'unsupported_grant_type',
  'NOT_FOUND',
  'PERMISSION_DENIED',
  'UNAUTHENTICATED',
]);
const refusal = z.object({
  error: z.union([z.string(), z.object({ status: z.string() }).transform(({ status }) => status)]),
});

/** Quotes only file names and the code of a refusal, since the rest may be secret. */
export function loginError(error: unknown): KeyError {
  if (error instanceof KeyError) return error;
  const { message, status, code, response } = error as LoginFailure;
  const exchange = /^Error code ([a-z_]{1,40})\b/.exec(message)?.[1];
  if (exchange !== undefined && refusals.has(exchange)) {
    return new KeyError(
      'refused',
      `Google does not exchange the token of the external_account that GOOGLE_APPLICATION_CREDENTIALS names: ${exchange}; ` +
        'are its audience and provider right, and is the token of its credential_source theirs and fresh?',
    );
  }
  const said = refusal.safeParse(response?.data).data?.error;
  const isOfFile = /^(The file at |Unable to read the credential file|ENOENT)/.test(message) || code === 'ENOENT';
  const isAnswer = status !== undefined || response !== undefined;
  const isOfNetwork = /^E[A-Z]+$/.test(String(code)) && !isOfFile;
  // Without a key, the library asks the machine for its identity, whose service may be away.
  const isOfMachine = message.startsWith('Could not load the default credentials');
  if ((isAnswer && (said === undefined || !refusals.has(said))) || isOfNetwork || isOfMachine)
    return new KeyError('unavailable', `Google's login fails: ${outcomeOf(error as LoginFailure)}`);
  const showsMessage = isOfFile && !(error instanceof SyntaxError);
  return new KeyError(
    'refused',
    'Google does not log this server in: is what keystore.gcp.secretmanager.credentials or the key file of ' +
      'GOOGLE_APPLICATION_CREDENTIALS holds the key of a service account, or has this machine one?' +
      (showsMessage ? ` (${quoted(message)})` : said === undefined ? '' : ` (${said})`),
  );
}

function outcomeOf({ message, status, code }: LoginFailure): string {
  if (status !== undefined) return `${status}, and not in the words of Google: is a proxy before it?`;
  return message.startsWith('Could not load the default credentials')
    ? 'there is neither a key nor an identity of this machine now: set keystore.gcp.secretmanager.credentials or GOOGLE_APPLICATION_CREDENTIALS, ' +
        'or give the machine a service account'
    : typeof code === 'string'
      ? code
      : 'no answer';
}
