import { z } from 'zod';
import { coreObjectName, image, kubernetesObject, kubernetesObjects, stringMap, port } from './fields.ts';

/** The options of the pods of a program. A change of any of them restarts the pods, one at a time. */
const podFields = {
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

/** The names of the fields above. */
export const podFieldNames: ReadonlySet<string> = new Set(Object.keys(podFields));

/** Fields that Tenant and KMSConfig share. */
export const programFields = {
  image: image.optional(),
  ...podFields,
  reclaimPolicy: z
    .enum(['Retain', 'Delete'])
    .default('Retain')
    .describe('What becomes of volumes, and of Secrets that the operator made, when this resource is deleted.'),
} as const;

export type PodFields = z.output<z.ZodObject<typeof podFields>>;

const dnsName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);

/** A name in a certificate: a host name in any case, or an IP address. */
const certificateName = z
  .string()
  .min(1)
  .max(253)
  .regex(
    /^((\*\.)?[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?)*|[0-9A-Fa-f]*:[0-9A-Fa-f:]+(\.[0-9.]+)?)$/,
  );

/** How a port is offered inside the cluster and beyond. */
export const service = z.strictObject({
  type: z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']).default('ClusterIP').describe('As in a Service.'),
  port: port.optional().describe('Port of the Service; that of the server without it.'),
  nodePort: z.int().min(1).max(65535).optional().describe('As in a Service.'),
  labels: stringMap(64, z.string().max(63)).optional(),
  annotations: stringMap(64).optional(),
  loadBalancerClass: z.string().min(1).max(317).optional().describe('As in a Service.'),
  loadBalancerSourceRanges: z
    .array(z.string().min(1).max(64))
    .max(64)
    .optional()
    .describe('As in a Service.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  externalTrafficPolicy: z.enum(['Cluster', 'Local']).optional().describe('As in a Service.'),
});

/** A host name at an ingress controller. */
export const ingress = z.strictObject({
  host: dnsName.describe('Host name.'),
  className: coreObjectName.optional().describe('Ingress class.'),
  annotations: stringMap(64).optional(),
  tlsSecretName: coreObjectName.optional().describe('Secret with the certificate for the host.'),
});

/** A cert-manager issuer. */
export const certManager = z.strictObject({
  issuerRef: z.strictObject({
    name: coreObjectName.describe('Name of the issuer.'),
    kind: z.enum(['Issuer', 'ClusterIssuer']).default('Issuer'),
    group: z.string().min(1).max(253).default('cert-manager.io'),
  }),
});

/** The certificate of a server: names in addition to those that the operator knows. */
export const dnsNames = z
  .array(certificateName)
  .max(64)
  .describe(
    'Names and IP addresses for which the certificate is valid: with certManager these alone, else besides those of the Services.',
  )
  .meta({ 'x-kubernetes-list-type': 'set' });

/** A ServiceMonitor of the Prometheus operator. */
export const monitoring = z.strictObject({
  serviceMonitor: z.strictObject({
    interval: z
      .string()
      .max(16)
      .regex(/^[0-9]+(s|m|h)$/)
      .optional()
      .describe("Time between two readings; Prometheus' own without it."),
    labels: stringMap(64, z.string().max(63))
      .optional()
      .describe('Labels of the ServiceMonitor, by which a Prometheus finds it.'),
  }),
});

/** The sources of allowed connections, as NetworkPolicyPeer objects. */
export const peers = kubernetesObjects(64);
