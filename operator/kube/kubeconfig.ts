import type { Agent } from 'node:http';
import type { RequestOptions } from 'node:https';
import type { Connection } from './credentials.ts';

export interface KubeconfigOptions {
  /** Else `KUBECONFIG`, else `~/.kube/config`. */
  readonly file?: string;
  /** Another than the current one. */
  readonly context?: string;
}

/**
 * As a kubeconfig says: tokens, client certificates, basic authentication, exec plugins, proxies. Errors naming what is missing.
 *
 * The library is loaded here and by its inner path: the import costs a second and 75 MB, which no operator in a cluster should pay.
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
  // The library refuses plain HTTP unless checking of certificates, which it has none of, is off.
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

/** Tokens of exec plugins are asked for again by the library when they end. */
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
