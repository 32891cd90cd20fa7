import { adminError } from './admin-error.ts';

/** Another running server over the same stores, which this one may call in the name of the deployment. */
export interface CallableServer {
  /** `HOST:PORT`. */
  readonly endpoint: string;
  /**
   * Calls the admin API of that server and returns the bytes of its answer.
   *
   * @throws ResponseError if the server does not answer, or refuses
   */
  call(request: ServerCall, signal: AbortSignal): Promise<AsyncIterable<Buffer>>;
}

export interface ServerCall {
  readonly method: 'GET' | 'POST';
  /** The path below `/minio/admin/v3/`. */
  readonly call: string;
  readonly query: Readonly<Record<string, string>>;
}

/** The servers that a call is about. */
export interface AskedServers {
  /** The server that got the call is among them. */
  readonly self: boolean;
  /** Reads the current list again: servers come and go. */
  others(): readonly CallableServer[];
}

interface Known {
  readonly server: { readonly endpoint: string };
  readonly callableServers?: () => readonly CallableServer[];
}

/**
 * Returns all servers, or the named ones: by `HOST:PORT`, or by `HOST`, which may be several.
 *
 * @throws RequestError for a name that no server has
 */
export function askedServers({ server, callableServers = () => [] }: Known, names: readonly string[]): AskedServers {
  if (names.length === 0) return { self: true, others: callableServers };
  const isNamed = (endpoint: string) => names.some((name) => name === endpoint || name === hostOf(endpoint));
  const known = [server.endpoint, ...callableServers().map(({ endpoint }) => endpoint)];
  const unknown = names.find((name) => !known.some((endpoint) => name === endpoint || name === hostOf(endpoint)));
  if (unknown !== undefined) {
    throw adminError(
      'XCofferInvalidRequest',
      `There is no running server ${JSON.stringify(unknown.slice(0, 80))}: there are ${known.join(', ')}.`,
    );
  }
  return {
    self: isNamed(server.endpoint),
    others: () => callableServers().filter(({ endpoint }) => isNamed(endpoint)),
  };
}

function hostOf(endpoint: string): string {
  return endpoint.replace(/:\d+$/, '');
}
