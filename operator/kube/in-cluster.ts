import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Connection } from './credentials.ts';

const defaultFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Milliseconds for which a token is not read again. The kubelet renews the file long before the token ends. */
const tokenAgeMs = 30_000;

export interface InClusterOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where the kubelet puts token, authority and namespace. */
  readonly folder?: string;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic?: () => number;
}

/**
 * As the service account of the pod that this runs in. Errors outside a cluster.
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
  const namespace = (await readFile(join(folder, 'namespace'), 'utf8')).trim();
  let token = '';
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    tls: { ca },
    namespace,
    authorization: async () => {
      if (monotonic() - readAt >= tokenAgeMs) {
        token = (await readFile(join(folder, 'token'), 'utf8')).trim();
        readAt = monotonic();
      }
      return `Bearer ${token}`;
    },
  };
}
