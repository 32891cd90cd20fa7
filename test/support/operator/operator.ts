import type { ProviderCheck } from '../../../operator/reconcile/identity-provider/check-provider.ts';
import type { ProviderCheck as Answer, KubernetesDouble } from '../kubernetes/kubernetes-double.ts';
import { createLogger } from '../../../platform/output/logger.ts';
import {
  startKubernetes,
  type KubernetesOperator,
  type KubernetesOptions,
} from '../../../operator/runtime/kubernetes/start-kubernetes.ts';

const good: ProviderCheck = { kind: 'good', issuer: 'https://id.example.com', warnings: [] };

/** What a check pod writes when the provider is as it should be. */
export const goodProvider: Answer = () => ({ exitCode: 0, message: JSON.stringify(good) });

export function brokenProvider(reason: string, message: string): Answer {
  const broken: ProviderCheck = { kind: 'broken', reason, message };
  return () => ({ exitCode: 0, message: JSON.stringify(broken) });
}

/** The operator of this checkout, in this process, on the double. Resolves when it acts. */
export async function startOperator(
  double: KubernetesDouble,
  options: Partial<KubernetesOptions> = {},
): Promise<KubernetesOperator> {
  const operator = await beginOperator(double, options);
  await operator.acting;
  return operator;
}

/** The same, before it acts. */
export function beginOperator(
  double: KubernetesDouble,
  options: Partial<KubernetesOptions> = {},
): Promise<KubernetesOperator> {
  return startKubernetes({
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
    onStoppedLeading: (message) => {
      throw new Error(message);
    },
    ...options,
  });
}
