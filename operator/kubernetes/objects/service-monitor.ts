import type { KubeObject } from '../../kube/kube-api.ts';
import type { Workload } from '../../workload.ts';
import { headlessLabel, podSelector, workloadLabel, workloadMeta } from './labels.ts';
import { metricsTokenRef } from './metrics-token.ts';
import type { ObjectContext } from './object-context.ts';

/** For the Prometheus operator. It scrapes pods by the headless Service alone, or each would be scraped once for every Service. */
export function serviceMonitor(workload: Workload, context: ObjectContext): readonly KubeObject[] {
  const options = workload.kubernetes.monitoring;
  if (options === undefined) return [];
  const metadata = workloadMeta(workload, context, workload.name);
  const tls = workload.readiness.kind === 'http' && workload.readiness.tls;
  return [
    {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'ServiceMonitor',
      metadata: { ...metadata, labels: { ...options.labels, ...metadata.labels } },
      spec: {
        selector: { matchLabels: { ...podSelector(workload.name), [headlessLabel]: 'true' } },
        targetLabels: [workloadLabel],
        endpoints: [
          {
            port: options.port,
            path: options.path,
            scheme: tls ? 'https' : 'http',
            // The certificate may be of a name outside the cluster, and the token is good for the figures alone, which are no secret.
            ...(tls ? { tlsConfig: { insecureSkipVerify: true } } : {}),
            ...(options.intervalSeconds === undefined ? {} : { interval: `${options.intervalSeconds}s` }),
            ...(options.tokenFrom === undefined
              ? {}
              : { authorization: { credentials: metricsTokenRef(workload.name) } }),
          },
        ],
      },
    },
  ];
}
