import { openKeyServiceClient } from '../../platform/key-service-client.ts';
import type { KeyServiceClient } from '../../platform/key-service-client.ts';
import type { ClientCredentials } from '../../platform/key-service/reloading-agent.ts';
import { createLogger } from '../../platform/logger.ts';
import { explainFailure } from './explain-failure.ts';
import { withPassword } from './key-password.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Options of every command that calls a key server. */
export interface ConnectOptions {
  readonly insecure?: boolean;
  readonly enclave?: string;
}

/** Opens the key server of `KEYSVC_SERVER` with the credentials of the environment, does the work and closes it. */
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
    ...(caFile === undefined ? {} : { caFile }),
    ...(options.enclave === undefined ? {} : { enclave: options.enclave }),
    // Who types a command wants to hear at once that nobody is there.
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

/** Errors with a `UsageError` where the environment names no credentials, or two kinds of them. */
export function credentialsOf(environment: Environment): ClientCredentials {
  const apiKey = read(environment, 'API_KEY');
  const keyFile = read(environment, 'CLIENT_KEY');
  const certFile = read(environment, 'CLIENT_CERT');
  if (apiKey !== undefined) {
    if (keyFile === undefined && certFile === undefined) return { kind: 'api-key', apiKey };
    throw new UsageError('KEYSVC_API_KEY and KEYSVC_CLIENT_KEY/KEYSVC_CLIENT_CERT are both set: unset one of them');
  }
  if (keyFile === undefined || certFile === undefined) {
    const missing = keyFile === undefined ? 'KEYSVC_CLIENT_KEY' : 'KEYSVC_CLIENT_CERT';
    throw new UsageError(
      `${missing} is not set: KEYSVC_CLIENT_KEY and KEYSVC_CLIENT_CERT name the files of the client's key and certificate ("keysvc identity new" makes them); KEYSVC_API_KEY may hold an API key instead`,
    );
  }
  return { kind: 'files', keyFile, certFile };
}

/** `KEYSVC_*`, or the name that other tools of the protocol read. */
function read(environment: Environment, name: string): string | undefined {
  const value = environment[`KEYSVC_${name}`] ?? environment[`KES_${name}`];
  return value === '' ? undefined : value;
}
