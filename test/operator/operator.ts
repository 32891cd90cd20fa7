import { createLogger } from '../../platform/logger.ts';
import {
  startKubernetes,
  type KubernetesOperator,
  type KubernetesOptions,
} from '../../operator/kubernetes/start-kubernetes.ts';
import type { KubernetesDouble } from '../doubles/kubernetes/kubernetes-double.ts';

/** The operator of this checkout, in this process, on the double. Resolves when it acts. */
export async function startOperator(
  double: KubernetesDouble,
  options: Partial<KubernetesOptions> = {},
): Promise<KubernetesOperator> {
  const operator = await startKubernetes({
    connection: {
      server: new URL(double.url),
      tls: {},
      authorization: () => Promise.resolve(`Bearer ${double.token}`),
      namespace: undefined,
    },
    identity: 'operator-of-the-test',
    maxConcurrentRollouts: 5,
    image: 'coffer:1',
    log: createLogger({ name: 'operator', level: process.env['COFFER_TEST_LOG'] === undefined ? 'silent' : 'debug' }),
    leadershipLost: (message) => {
      throw new Error(message);
    },
    ...options,
  });
  await operator.acting;
  return operator;
}
