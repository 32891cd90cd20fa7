import type { Agent } from 'node:http';
import { readFile } from 'node:fs/promises';
import { readTokenFile } from '../../platform/settings/read-setting-file.ts';
import { join } from 'node:path';
import type { RequestOptions } from 'node:https';

/** The address of an API server, the authorities that its certificate is checked with, and the credentials of the client. */
export interface Connection {
  readonly server: URL;
  /** PEM. Without `ca` the authorities of the system count. */
  readonly tls: {
    readonly ca?: string;
    readonly cert?: string;
    readonly key?: string;
    readonly servername?: string;
    readonly rejectUnauthorized?: boolean;
  };
  /** An agent that replaces the one made from `tls`, when the kubeconfig names a proxy. */
  readonly agent?: Agent;
  /** Returns the Authorization header of a request. Tokens of service accounts change every hour. */
  readonly authorization: () => Promise<string | undefined>;
  /** The namespace of the pod, or of the kubeconfig's context. */
  readonly namespace: string | undefined;
}

const defaultFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Milliseconds for which a token is cached. The kubelet renews the file long before the token ends. */
const tokenAgeMs = 30_000;

interface InClusterOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder in which the kubelet puts token, authority and namespace. */
  readonly folder?: string;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic?: () => number;
}

/**
 * Connects as the service account of the pod that this process runs in. Errors outside a cluster.
 *
 * @see https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/
 */
export async function inCluster(options: InClusterOptions): Promise<Connection> {
  const { environment, folder = defaultFolder, monotonic = () => performance.now() } = options;
  const host = environment['KUBERNETES_SERVICE_HOST'];
  const port = environment['KUBERNETES_SERVICE_PORT'] ?? '443';
  if (host === undefined || host === '') {
    throw new Error(
      'this is no pod of a cluster (KUBERNETES_SERVICE_HOST is not set): name a kubeconfig file by --kubeconfig',
    );
  }
  const ca = await readFile(join(folder, 'ca.crt'), 'utf8');
  const namespace = await readTokenFile(join(folder, 'namespace'));
  let token = '';
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    tls: { ca },
    namespace,
    authorization: async () => {
      if (monotonic() - readAt >= tokenAgeMs) {
        token = await readTokenFile(join(folder, 'token'));
        readAt = monotonic();
      }
      return `Bearer ${token}`;
    },
  };
}

interface KubeconfigOptions {
  /** `KUBECONFIG` by default, then `~/.kube/config`. */
  readonly file?: string;
  /** The current context by default. */
  readonly context?: string;
}

/**
 * Connects as a kubeconfig says: tokens, client certificates, basic authentication, exec plugins, proxies. Errors name what is missing.
 *
 * The library is imported lazily and by its inner path: the import costs a second and 75 MB, and an operator in a cluster does not
 * need it.
 */
export async function fromKubeconfig({ file, context }: KubeconfigOptions = {}): Promise<Connection> {
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
  const config = new KubeConfig();
  if (file === undefined) config.loadFromDefault();
  else config.loadFromFile(file);
  if (context !== undefined) config.setCurrentContext(context);
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    throw new Error(
      `the kubeconfig has no cluster for the context ${JSON.stringify(config.getCurrentContext() ?? '')}`,
    );
  }
  // The library refuses plain HTTP unless the check of certificates is off.
  if (cluster.server.startsWith('http:')) {
    config.clusters = config.clusters.map((one) => (one.name === cluster.name ? { ...one, skipTLSVerify: true } : one));
  }
  const ask = async (): Promise<RequestOptions> => {
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options);
    return options;
  };
  const first = await ask();
  return {
    server: new URL(cluster.server),
    tls: {
      ...pem('ca', first.ca),
      ...pem('cert', first.cert),
      ...pem('key', first.key),
      ...(first.servername === undefined ? {} : { servername: first.servername }),
      ...(first.rejectUnauthorized === undefined ? {} : { rejectUnauthorized: first.rejectUnauthorized }),
    },
    ...(cluster.proxyUrl === undefined ? {} : { agent: first.agent as Agent }),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace,
    authorization: async () => authorizationOf(await ask()),
  };
}

/** The library renews tokens of exec plugins when they end. */
function authorizationOf(options: RequestOptions): string | undefined {
  if (typeof options.auth === 'string') return `Basic ${Buffer.from(options.auth).toString('base64')}`;
  const value = new Headers(options.headers as ConstructorParameters<typeof Headers>[0]).get('authorization');
  return value ?? undefined;
}

function pem<Name extends 'ca' | 'cert' | 'key'>(name: Name, value: unknown): { readonly [K in Name]?: string } {
  if (typeof value === 'string') return { [name]: value } as { readonly [K in Name]?: string };
  if (Buffer.isBuffer(value)) return { [name]: value.toString('utf8') } as { readonly [K in Name]?: string };
  return {};
}
