import type { IdentityProvider } from '../../../api/object.ts';
import type { KubeObject, OwnerReference } from '../../../kube-client/kube-api.ts';
import type { PodOptions } from '../../../contract/workload.ts';
import { imageCommand, pullSecrets, containerSecurityContext, podSecurityContext } from '../objects/pod-template.ts';
import { networkLabel, ownedLabels, podSelector } from '../objects/labels.ts';

interface CheckPodOptions {
  readonly name: string;
  readonly namespace: string;
  readonly owner: OwnerReference;
  readonly image: string;
  /** Pod options of a tenant that uses the provider. */
  readonly pod: PodOptions | undefined;
  readonly deadlineSeconds: number;
}

const folder = '/etc/coffer/check';
const requestKey = 'request.json';

/** Makes the Secret with the request, and the pod that checks the provider from the network of servers. */
export function providerCheckObjects(
  provider: IdentityProvider,
  request: string,
  options: CheckPodOptions,
): { readonly secret: KubeObject; readonly pod: KubeObject } {
  const { name, namespace, owner, image, pod, deadlineSeconds } = options;
  const ref = { kind: 'IdentityProvider', name: provider.metadata.name } as const;
  const labels = ownedLabels(ref, 'provider-check');
  const metadata = { name, namespace, labels, ownerReferences: [owner] };
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata,
    type: 'Opaque',
    immutable: true,
    data: { [requestKey]: Buffer.from(request, 'utf8').toString('base64') },
  };
  return {
    secret,
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      // The network label of servers: a policy that lets them out also lets the check out.
      metadata: {
        ...metadata,
        labels: { ...labelsOf(pod), ...labels, [networkLabel]: 'server' },
        ...(pod === undefined ? {} : { annotations: pod.annotations }),
      },
      spec: {
        restartPolicy: 'Never',
        activeDeadlineSeconds: deadlineSeconds,
        terminationGracePeriodSeconds: 0,
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: podSecurityContext(pod?.podSecurityContext),
        ...(pod?.serviceAccountName === undefined ? {} : { serviceAccountName: pod.serviceAccountName }),
        ...pullSecrets(pod?.imagePullSecrets ?? []),
        ...(pod?.nodeSelector === undefined ? {} : { nodeSelector: pod.nodeSelector }),
        ...(pod?.tolerations === undefined ? {} : { tolerations: pod.tolerations }),
        ...(pod?.priorityClassName === undefined ? {} : { priorityClassName: pod.priorityClassName }),
        ...(pod?.runtimeClassName === undefined ? {} : { runtimeClassName: pod.runtimeClassName }),
        containers: [
          {
            name: 'provider-check',
            image,
            ...(pod?.imagePullPolicy === undefined ? {} : { imagePullPolicy: pod.imagePullPolicy }),
            command: [...imageCommand('coffer-operator')],
            args: ['check-provider', '--request', `${folder}/${requestKey}`],
            securityContext: containerSecurityContext(pod?.containerSecurityContext),
            // Small requests, so that a quota with room for servers has room for the check.
            resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } },
            terminationMessagePolicy: 'FallbackToLogsOnError',
            volumeMounts: [
              { name: 'request', mountPath: folder, readOnly: true },
              { name: 'tmp', mountPath: '/tmp' },
            ],
          },
        ],
        volumes: [
          { name: 'request', secret: { secretName: name, defaultMode: 0o440 } },
          { name: 'tmp', emptyDir: {} },
        ],
      },
    },
  };
}

/**
 * Returns the labels that network policies of users select servers by. The selector of a StatefulSet or Service of the operator must not
 * match them, or the check would get requests of clients.
 */
function labelsOf(pod: PodOptions | undefined): Readonly<Record<string, string>> {
  const selecting = podSelector('');
  return Object.fromEntries(Object.entries(pod?.labels ?? {}).filter(([label]) => !(label in selecting)));
}
