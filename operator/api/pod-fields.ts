import { z } from 'zod';
import { coreObjectName, image, kubernetesObject, kubernetesObjects, stringMap } from './fields.ts';

/** What a resource says about the pods of its program. Every change of one of them restarts the pods, one at a time. */
export const podFields = {
  imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).optional().describe('When the image is pulled.'),
  imagePullSecrets: z
    .array(z.strictObject({ name: coreObjectName }))
    .max(16)
    .optional()
    .describe('Secrets for pulling the image.')
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
  resources: kubernetesObject.optional().describe('Requests and limits, as in a container.'),
  nodeSelector: stringMap(32).optional().describe('Labels of the nodes that the pods may run on.'),
  tolerations: kubernetesObjects(32).optional().describe('As in a pod.'),
  affinity: kubernetesObject.optional().describe('As in a pod.'),
  topologySpreadConstraints: kubernetesObjects(16).optional().describe('As in a pod.'),
  priorityClassName: coreObjectName.optional().describe('As in a pod.'),
  runtimeClassName: coreObjectName.optional().describe('As in a pod.'),
  podSecurityContext: kubernetesObject.optional().describe("Laid over the operator's own restricted one."),
  containerSecurityContext: kubernetesObject.optional().describe("Laid over the operator's own restricted one."),
  serviceAccountName: coreObjectName
    .optional()
    .describe(
      'Service account of the pods, where a cloud or a vault knows it; its token is mounted only where kubernetesServiceAccounts or a login at the vault needs it, and ends within the hour.',
    ),
  podLabels: stringMap(64, z.string().max(63)).optional().describe("Labels of the pods; the operator's own win."),
  podAnnotations: stringMap(64).optional().describe("Annotations of the pods; the operator's own win."),
  terminationGracePeriodSeconds: z
    .int()
    .min(0)
    .max(3600)
    .default(30)
    .describe('Seconds that a pod has to end what it does.'),
} as const;

/** Names of the fields above, and of none else. */
export const podFieldNames: ReadonlySet<string> = new Set(Object.keys(podFields));

/** Fields that Tenant and KMSConfig have in common. */
export const programFields = {
  image: image.optional(),
  ...podFields,
  reclaimPolicy: z
    .enum(['Retain', 'Delete'])
    .default('Retain')
    .describe('What becomes of volumes, and of Secrets that the operator made, when this resource is deleted.'),
} as const;

export type PodFields = z.output<z.ZodObject<typeof podFields>>;
