import { createHmac } from 'node:crypto';
import type { KubeObject } from '../../kube/kube-api.ts';
import type { Workload } from '../../workload.ts';
import { workloadMeta } from './labels.ts';
import type { ObjectContext } from './object-context.ts';

/** Where Prometheus finds the token: the Secret is in the namespace of the ServiceMonitor. */
export function metricsTokenRef(workload: string): { readonly name: string; readonly key: string } {
  return { name: `${workload}-metrics-token`, key: 'token' };
}

/**
 * The Secret with the token by which Prometheus reads the server's metrics, so that Prometheus never sees the root credentials. It is
 * signed with them, and so changes with them.
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
 * The token that `mc admin prometheus generate` makes, but without an end: it ends with the password, and the same credentials give the
 * same token, so that nothing is written where nothing changed.
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
