import { ProgramError } from '../../platform/errors/program-error.ts';
import { KeyServiceError, openKeyServiceClient, type KeyServiceClient } from '../../platform/key-service/client.ts';
import type { ClientCredentials } from '../../platform/key-service/reloading-agent.ts';
import { createLogger } from '../../platform/output/logger.ts';
import { withPassword } from './key-password.ts';
import { type Terminal } from './terminal.ts';

/** Adds advice to the error of a call. */
function explainFailure(error: unknown): unknown {
  if (!(error instanceof KeyServiceError)) return error;
  const advice = adviceFor(error);
  return advice === undefined ? error : new Error(`${error.message}\n${advice}`, { cause: error });
}

function adviceFor(error: KeyServiceError): string | undefined {
  switch (error.code) {
    case 'unavailable':
      return error.status === undefined ? connectionAdvice(error.message) : undefined;
    case 'not-permitted':
      // The refusal of a certificate says what to do, and no policy was asked.
      if (error.message.includes('client certificate')) return undefined;
      return error.status === 403
        ? 'The policy of your identity must allow the call; "keysvc identity info" shows who you are and what you may do.'
        : 'The key server wants one client certificate: see KEYSVC_CLIENT_KEY and KEYSVC_CLIENT_CERT, or KEYSVC_API_KEY.';
    case 'not-supported':
      return 'This key server does not have the call. Its policies and identities are in its configuration file: change them there, and it reloads the file.';
    case 'key-not-found':
      return '"keysvc key ls" lists the keys that you may see.';
    case 'key-exists':
    case 'not-authentic':
    case 'invalid-request':
    case 'not-configured':
    case 'wrong-key':
      return undefined;
  }
}

function connectionAdvice(message: string): string {
  if (message.includes('KEYSVC_CAPATH')) return 'For a test, -k leaves the certificate unchecked.';
  if (/altnames|does not match/.test(message))
    return 'KEYSVC_SERVER must name the server as its certificate does ("keysvc identity new --ip --dns" sets the names).';
  if (/alert|handshake/.test(message))
    return 'The key server did not take the client certificate: it must come from an authority in its tls.ca, unless it runs with --auth=off.';
  return 'Is it running? KEYSVC_SERVER names it (https://HOST:7373).';
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The options of every command that calls a key server. */
export interface ConnectOptions {
  readonly insecure?: boolean;
  readonly enclave?: string;
}

/** Connects to the server of `KEYSVC_SERVER` with the credentials of the environment, does the work and closes the connection. */
export async function withKeyServer<T>(
  terminal: Pick<Terminal, 'environment' | 'askSecret'>,
  options: ConnectOptions,
  work: (client: KeyServiceClient) => Promise<T>,
): Promise<T> {
  const { environment } = terminal;
  const caFile = read(environment, 'CAPATH');
  const client = await openKeyServiceClient({
    endpoints: (read(environment, 'SERVER') ?? 'https://127.0.0.1:7373').split(',').map((endpoint) => endpoint.trim()),
    credentials: await withPassword(credentialsOf(environment), terminal),
    caFile,
    caSetting: 'KEYSVC_CAPATH',
    enclave: options.enclave,
    // A command without retries reports an unreachable server at once.
    retryForMs: 0,
    insecure: options.insecure === true,
    log: createLogger({ name: 'keysvc', level: 'silent' }),
  });
  try {
    return await work(client);
  } catch (error) {
    throw explainFailure(error);
  } finally {
    client.close();
  }
}

/** @throws ProgramError when the environment has no credentials, or two kinds of them */
export function credentialsOf(environment: Environment): ClientCredentials {
  const apiKey = read(environment, 'API_KEY');
  const keyFile = read(environment, 'CLIENT_KEY');
  const certFile = read(environment, 'CLIENT_CERT');
  if (apiKey !== undefined) {
    if (keyFile === undefined && certFile === undefined) return { kind: 'api-key', apiKey };
    throw new ProgramError(
      'usage',
      'KEYSVC_API_KEY and KEYSVC_CLIENT_KEY/KEYSVC_CLIENT_CERT are both set: unset one of them',
    );
  }
  if (keyFile === undefined || certFile === undefined) {
    const missing = keyFile === undefined ? 'KEYSVC_CLIENT_KEY' : 'KEYSVC_CLIENT_CERT';
    throw new ProgramError(
      'usage',
      `${missing} is not set: KEYSVC_CLIENT_KEY and KEYSVC_CLIENT_CERT name the files of the client's key and certificate ("keysvc identity new" makes them); KEYSVC_API_KEY may hold an API key instead`,
    );
  }
  return { kind: 'files', keyFile, certFile };
}

/** Reads `KEYSVC_*`, or `KES_*`, which other tools of the protocol use. An empty variable counts as one that is not set. */
function read(environment: Environment, name: string): string | undefined {
  return [environment[`KEYSVC_${name}`], environment[`KES_${name}`]].find(
    (value) => value !== undefined && value !== '',
  );
}
