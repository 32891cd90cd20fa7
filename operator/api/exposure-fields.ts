import { z } from 'zod';
import { coreObjectName, kubernetesObjects, port, stringMap } from './fields.ts';

const dnsName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);

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

/** Certificate of a server: the names beside those that the operator knows. */
export const dnsNames = z
  .array(dnsName)
  .max(64)
  .describe(
    'Names for which the certificate is valid: with certManager these alone, else besides those of the Services.',
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

/** Who may open connections, as NetworkPolicyPeer objects. */
export const peers = kubernetesObjects(64);
