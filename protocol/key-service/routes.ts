/** One call of the key service. */
export interface Route {
  readonly api: Api;
  /** The methods that are answered. The 2023 clients send POST where later ones send PUT. */
  readonly methods: readonly Method[];
  /** The path, without the name that follows it where `argument` is set. */
  readonly path: string;
  readonly argument: 'none' | 'name' | 'pattern';
  /** Largest request body in bytes; 0 where there is none. */
  readonly maxBody: number;
  /** `policy`: a policy must allow the path. `certificate`: any client certificate will do. `none`: not even that. */
  readonly access: 'policy' | 'certificate' | 'none';
  /** Whether `api.<path>.skip_auth` of the configuration may open it to everyone. */
  readonly maySkipAuth: boolean;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export type Api =
  | 'version'
  | 'ready'
  | 'status'
  | 'key-create'
  | 'key-describe'
  | 'key-delete'
  | 'key-list'
  | 'key-generate'
  | 'key-encrypt'
  | 'key-decrypt'
  | 'key-bulk-decrypt'
  | 'identity-describe-self';

export const keyServiceLimits = {
  maxBody: 1024 * 1024,
  /** Milliseconds that one call may take. */
  timeoutMs: 15_000,
  maxCiphertexts: 1000,
  defaultPort: 7373,
} as const;

const maxBody = keyServiceLimits.maxBody;
const post = ['POST', 'PUT'] as const;

export const routes: readonly Route[] = [
  route('version', ['GET'], '/version', 'none', 0, { access: 'none' }),
  route('ready', ['GET'], '/v1/ready', 'none', 0, { maySkipAuth: true }),
  route('status', ['GET'], '/v1/status', 'none', 0, { maySkipAuth: true }),
  route('key-create', post, '/v1/key/create', 'name', 0),
  route('key-describe', ['GET'], '/v1/key/describe', 'name', 0),
  route('key-delete', ['DELETE'], '/v1/key/delete', 'name', 0),
  route('key-list', ['GET'], '/v1/key/list', 'pattern', 0),
  route('key-generate', post, '/v1/key/generate', 'name', maxBody),
  route('key-encrypt', post, '/v1/key/encrypt', 'name', maxBody),
  route('key-decrypt', post, '/v1/key/decrypt', 'name', maxBody),
  route('key-bulk-decrypt', post, '/v1/key/bulk/decrypt', 'name', maxBody),
  route('identity-describe-self', ['GET'], '/v1/identity/self/describe', 'none', 0, { access: 'certificate' }),
];

/** Paths that the protocol knows and whose `skip_auth` a configuration may set, whether served already or not. */
export const pathsThatMaySkipAuth = ['/v1/status', '/v1/metrics', '/v1/api', '/v1/ready'] as const;

/** The route of a path and the name that follows it; undefined where the protocol knows none. */
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
  more: Partial<Pick<Route, 'access' | 'maySkipAuth'>> = {},
): Route {
  return { api, methods, path, argument, maxBody, access: 'policy', maySkipAuth: false, ...more };
}
