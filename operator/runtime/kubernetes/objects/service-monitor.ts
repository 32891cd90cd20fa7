import { createHmac } from 'node:crypto';
import type { KubeObject } from '../../../kube-client/kube-api.ts';
import type { Workload } from '../../../contract/workload.ts';
import { workloadMeta, headlessLabel, podSelector, workloadLabel } from './labels.ts';
import type { ObjectContext } from './object-context.ts';

/** The Secret with the token for Prometheus, in the namespace of the ServiceMonitor. */
function metricsTokenRef(workload: string): { readonly name: string; readonly key: string } {
  return { name: `${workload}-metrics-token`, key: 'token' };
}

/**
 * Makes the Secret with the token by which Prometheus reads the server's metrics, so that Prometheus never gets the root credentials. They
 * sign the token, which changes with them.
 */
export function metricsToken(
  workload: Workload,
  context: Pick<ObjectContext, 'namespace' | 'owner' | 'secret'>,
): readonly KubeObject[] {
  const from = workload.kubernetes.monitoring?.tokenFrom;
  if (from === undefined) return [];
  const { name, key } = metricsTokenRef(workload.name);
  const token = scrapeToken(context.secret(from.secret, from.userKey), context.secret(from.secret, from.passwordKey));
  return [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: workloadMeta(workload, context, name),
      type: 'Opaque',
      data: { [key]: Buffer.from(token).toString('base64') },
    },
  ];
}

/**
 * Makes the token of `mc admin prometheus generate`, but without expiry: it ends with the password. The same credentials give the same
 * token, so that nothing is written without a change.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7515#appendix-A.1
 */
export function scrapeToken(user: string, password: string): string {
  const signed = [
    { alg: 'HS512', typ: 'JWT' },
    { iss: 'prometheus', sub: user },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${createHmac('sha512', password).update(signed).digest('base64url')}`;
}

/**
 * Makes the object for the Prometheus operator. It selects the headless Service only, or each pod would be scraped once for every Service.
 */
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
            // The certificate may have only a name outside the cluster, and the token allows nothing but the metrics, which are not secret.
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
