import { z } from 'zod';
import { certManager, peers, monitoring } from './exposure-fields.ts';
import { duration, keyName, localHost, objectName, port } from './fields.ts';
import { keystore } from './keystore.ts';
import { programFields } from './pod-fields.ts';

const path = z.string().min(1).max(512);

const policy = z.strictObject({
  name: objectName,
  allow: z.array(path).max(64).describe('API path patterns.').meta({ 'x-kubernetes-list-type': 'atomic' }),
  deny: z.array(path).max(64).optional().meta({ 'x-kubernetes-list-type': 'atomic' }),
  identities: z
    .array(
      z
        .string()
        .max(64)
        .regex(/^[0-9a-f]{64}$/),
    )
    .max(64)
    .describe('Identities of client certificates (keysvc identity of FILE).')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
});

/** A key service, used by any number of tenants. */
export const kmsConfigSpec = z.strictObject({
  ...programFields,
  replicas: z.int().min(1).max(32).default(1).describe('Key services; the local runtime runs one.'),
  address: z
    .strictObject({
      host: localHost,
      port: port.default(7373).describe('Port of the key service.'),
    })
    .prefault({}),
  keystore: keystore.describe('Where the keys are kept: exactly one of files, azure, vault, aws, gcp.'),
  defaultKey: keyName.describe(
    'Key that encrypts the backend of tenants, SSE-S3, and SSE-KMS where the request names no key. Made when missing.',
  ),
  keys: z
    .array(z.strictObject({ name: keyName }))
    .max(256)
    .optional()
    .describe('Further keys that are made when missing.')
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
  cache: z
    .strictObject({
      any: duration.optional().describe('How long a key is cached, e.g. 5m.'),
      unused: duration.optional().describe('How long an unused key is cached, e.g. 30s.'),
      offline: duration
        .optional()
        .describe('How long cached keys serve reads while the keystore is down; off without it.'),
    })
    .optional(),
  certificates: z
    .strictObject({
      life: duration.optional().describe('How long the certificates are valid that the operator makes, e.g. 90d.'),
      certManager: certManager.optional().describe('An issuer of cert-manager makes them.'),
    })
    .optional()
    .describe('Certificates of the key service and of the tenants that use it; renewed at two thirds of their life.'),
  policies: z
    .array(policy)
    .max(32)
    .optional()
    .describe("Policies beside the tenants' own.")
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
  enclave: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe('Enclave that tenants name to the key service; none is sent without it.'),
  monitoring: monitoring.optional().describe('A ServiceMonitor for Prometheus.'),
  networkPolicy: z
    .strictObject({
      enabled: z.boolean().default(true).describe('Whether a NetworkPolicy is made.'),
      alsoFrom: peers
        .optional()
        .describe('NetworkPolicyPeer objects that may reach the key service besides its tenants and the operator.'),
    })
    .prefault({})
    .describe('The key service admits the servers of its tenants only.'),
});
export type KMSConfigSpec = z.output<typeof kmsConfigSpec>;
