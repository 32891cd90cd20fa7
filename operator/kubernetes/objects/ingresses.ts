import type { KubeObject } from '../../kube/kube-api.ts';
import type { IngressOptions, Workload } from '../../workload.ts';
import { workloadMeta } from './labels.ts';
import type { ObjectContext } from './object-context.ts';

/** One Ingress for each host of each port. */
export function ingresses(workload: Workload, context: ObjectContext): readonly KubeObject[] {
  const used = new Map<string, number>();
  return workload.kubernetes.ingresses.map((options) => {
    const count = (used.get(options.port) ?? 0) + 1;
    used.set(options.port, count);
    const name = `${workload.name}-${options.port}${count === 1 ? '' : `-${count}`}`;
    return ingress(workload, context, name, options);
  });
}

function ingress(workload: Workload, context: ObjectContext, name: string, options: IngressOptions): KubeObject {
  const { host, className, annotations, tlsSecretName } = options;
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { ...workloadMeta(workload, context, name), annotations },
    spec: {
      ...(className === undefined ? {} : { ingressClassName: className }),
      ...(tlsSecretName === undefined ? {} : { tls: [{ hosts: [host], secretName: tlsSecretName }] }),
      rules: [
        {
          host,
          http: {
            paths: [
              {
                path: '/',
                pathType: 'Prefix',
                backend: { service: { name: workload.name, port: { name: options.port } } },
              },
            ],
          },
        },
      ],
    },
  };
}
