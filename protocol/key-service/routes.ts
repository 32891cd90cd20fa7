/** One call of the key service. */
export interface Route {
  readonly api: Api;
  /** The methods of the route. The 2023 clients send POST where later ones send PUT. */
  readonly methods: readonly Method[];
  /** The path, without the name that follows it where `argument` is set. */
  readonly path: string;
  readonly argument: 'none' | 'name' | 'pattern';
  /** The largest request body in bytes; 0 if the call has none. */
  readonly maxBody: number;
  /** `policy`: a policy must allow the path. `certificate`: any client certificate is enough. `none`: the caller needs no certificate. */
  readonly access: 'policy' | 'certificate' | 'none';
  /** `api.<path>.skip_auth` of the configuration may open the route to everyone. */
  readonly maySkipAuth: boolean;
  /** The response goes on until one side ends it. It is a stream of events and has no deadline. */
  readonly endless: boolean;
  /** The call writes an audit entry. The calls that read the audit log write none, or they would report themselves without end. */
  readonly audited: boolean;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export type Api =
  | 'version'
  | 'ready'
  | 'status'
  | 'metrics'
  | 'api'
  | 'key-create'
  | 'key-import'
  | 'key-rotate'
  | 'key-describe'
  | 'key-delete'
  | 'key-list'
  | 'key-generate'
  | 'key-encrypt'
  | 'key-decrypt'
  | 'key-bulk-decrypt'
  | 'key-hmac'
  | 'policy-describe'
  | 'policy-read'
  | 'policy-list'
  | 'identity-describe'
  | 'identity-describe-self'
  | 'identity-list'
  | 'log-audit'
  | 'log-error';

export const keyServiceLimits = {
  maxBody: 1024 * 1024,
  /** The timeout of a call. */
  timeoutMs: 15_000,
  maxCiphertexts: 1000,
  defaultPort: 7373,
} as const;

/**
 * The header with the milliseconds that the caller waits for the answer. The service ends its own work earlier, so that the caller learns whose
 * failure it is. Other servers of the protocol ignore it.
 */
export const timeoutHeader = 'x-request-timeout-ms';

const maxBody = keyServiceLimits.maxBody;
const post = ['POST', 'PUT'] as const;

export const routes: readonly Route[] = [
  route('version', ['GET'], '/version', 'none', 0, { access: 'none' }),
  route('ready', ['GET'], '/v1/ready', 'none', 0, { maySkipAuth: true }),
  route('status', ['GET'], '/v1/status', 'none', 0, { maySkipAuth: true }),
  route('metrics', ['GET'], '/v1/metrics', 'none', 0, { maySkipAuth: true, audited: false }),
  route('api', ['GET'], '/v1/api', 'none', 0, { maySkipAuth: true }),
  route('key-create', post, '/v1/key/create', 'name', 0),
  route('key-import', post, '/v1/key/import', 'name', maxBody),
  // This route is our own: other servers of the protocol answer 501.
  route('key-rotate', post, '/v1/key/rotate', 'name', 0),
  route('key-describe', ['GET'], '/v1/key/describe', 'name', 0),
  route('key-delete', ['DELETE'], '/v1/key/delete', 'name', 0),
  route('key-list', ['GET'], '/v1/key/list', 'pattern', 0),
  route('key-generate', post, '/v1/key/generate', 'name', maxBody),
  route('key-encrypt', post, '/v1/key/encrypt', 'name', maxBody),
  route('key-decrypt', post, '/v1/key/decrypt', 'name', maxBody),
  route('key-bulk-decrypt', post, '/v1/key/bulk/decrypt', 'name', maxBody),
  route('key-hmac', post, '/v1/key/hmac', 'name', maxBody),
  route('policy-describe', ['GET'], '/v1/policy/describe', 'name', 0),
  route('policy-read', ['GET'], '/v1/policy/read', 'name', 0),
  route('policy-list', ['GET'], '/v1/policy/list', 'pattern', 0),
  route('identity-describe', ['GET'], '/v1/identity/describe', 'name', 0),
  route('identity-list', ['GET'], '/v1/identity/list', 'pattern', 0),
  route('log-audit', ['GET'], '/v1/log/audit', 'none', 0, { endless: true, audited: false }),
  route('log-error', ['GET'], '/v1/log/error', 'none', 0, { endless: true, audited: false }),
  route('identity-describe-self', ['GET'], '/v1/identity/self/describe', 'none', 0, { access: 'certificate' }),
];

/** The paths for which a configuration may set `skip_auth`. */
export const pathsThatMaySkipAuth = ['/v1/status', '/v1/metrics', '/v1/api', '/v1/ready'] as const;

/** Finds the route of a path and the name that follows it. Returns undefined for a path that the protocol does not know. */
export function findRoute(path: string): { readonly route: Route; readonly argument: string } | undefined {
  for (const route of routes) {
    if (path === route.path) return { route, argument: '' };
    if (route.argument !== 'none' && path.startsWith(`${route.path}/`)) {
      return { route, argument: path.slice(route.path.length + 1) };
    }
  }
  return undefined;
}

function route(
  api: Api,
  methods: readonly Method[],
  path: string,
  argument: Route['argument'],
  maxBody: number,
  more: Partial<Pick<Route, 'access' | 'maySkipAuth' | 'endless' | 'audited'>> = {},
): Route {
  const usual = { access: 'policy', maySkipAuth: false, endless: false, audited: true } as const;
  return { api, methods, path, argument, maxBody, ...usual, ...more };
}
