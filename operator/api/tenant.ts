import { z } from 'zod';
import { certManager, dnsNames, ingress, monitoring, peers, service, programFields } from './kubernetes-fields.ts';
import {
  caBundleFrom,
  configMapKeyRef,
  coreObjectName,
  keyName,
  localHost,
  objectName,
  port,
  secretKeyRef,
  secretRef,
  url,
} from './fields.ts';
import { auditTargets, notificationTargets } from './tenant/target-fields.ts';
import { tiers } from './tenant/tier-fields.ts';
import { volumeFields } from './volume-fields.ts';

const settingName = z
  .string()
  .min(5)
  .max(128)
  .regex(/^SVC_[A-Z0-9_]+$/);

const listenAddress = (name: string, standard: number) =>
  z
    .strictObject({
      host: localHost,
      port: port.default(standard).describe(`Port of the ${name}.`),
    })
    .prefault({});

const setting = z.strictObject({
  name: settingName.describe('Name of a setting, SVC_*.'),
  value: z.string().max(8192).optional(),
  valueFrom: z
    .strictObject({
      secretKeyRef: secretKeyRef.optional().describe('For secrets.'),
      configMapKeyRef: configMapKeyRef.optional().describe('For what is no secret.'),
    })
    .optional(),
});

const kmsConfigRef = z.strictObject({
  name: objectName.describe('Name of a KMSConfig.'),
  keyPrefix: z
    .string()
    .max(64)
    .regex(/^[A-Za-z0-9_-]*$/)
    .default('')
    .describe('The tenant may use only keys whose names begin so. Needed where tenants share a key service.'),
  defaultKey: keyName.optional().describe("Default key of this tenant; the KMSConfig's without it."),
});

const blobs = z.strictObject({
  s3: z
    .strictObject({
      endpoint: url('Address of the other S3, https://HOST.'),
      region: z.string().min(1).max(64).optional(),
      bucket: z.string().min(3).max(63).describe('Its bucket.'),
      prefix: z.string().max(512).optional().describe('What the keys in it begin with.'),
      credentialsSecret: secretRef.describe('Secret with the keys accessKey and secretKey.'),
      caBundleFrom: caBundleFrom
        .optional()
        .describe('CA certificates (PEM) trusted for its certificate, besides those of the system.'),
    })
    .optional()
    .describe('In a bucket of another S3.'),
  sharedVolume: z
    .strictObject({ claimName: coreObjectName.describe('A PersistentVolumeClaim that every server can mount.') })
    .optional()
    .describe('In files on a volume that all servers share.'),
});

const storage = z.strictObject({
  ...volumeFields,
  records: z
    .strictObject({
      postgres: z.strictObject({
        urlSecretRef: secretKeyRef.describe('postgres://USER:PASSWORD@HOST/DATABASE.'),
        caBundleFrom: caBundleFrom
          .optional()
          .describe('CA certificates (PEM) trusted for its certificate, instead of those of the system.'),
      }),
    })
    .optional()
    .describe('Where records are kept; on the volume of the one server without it.'),
  blobs: blobs
    .optional()
    .describe('Where the contents of objects are kept; on the volume of the one server without it.'),
});

/** A storage server with its console. */
export const tenantSpec = z.strictObject({
  ...programFields,
  replicas: z.int().min(1).max(64).default(1).describe('Servers. The local runtime runs one.'),
  paused: z
    .boolean()
    .default(false)
    .describe('Leaves what runs as it is; only conditions and certificates are kept up to date.'),
  hibernated: z.boolean().default(false).describe('Runs no server; volumes, Secrets and addresses stay.'),
  rootCredentialsSecret: secretRef
    .optional()
    .describe('Secret with the keys rootUser and rootPassword. Made by the operator without it.'),
  identityProviders: z
    .array(z.strictObject({ name: objectName.describe('Name of an IdentityProvider.') }))
    .max(32)
    .optional()
    .describe('Identity providers whose users may log in.')
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
  kubernetesServiceAccounts: z
    .strictObject({
      audience: z
        .string()
        .min(1)
        .max(253)
        .describe('The audience that tokens are made for. Give each tenant one of its own.'),
    })
    .optional()
    .describe(
      "Takes tokens of the cluster's service accounts, so that pods get credentials without a Secret; PolicyBinding says which.",
    ),
  kmsConfigRef: kmsConfigRef
    .optional()
    .describe('Key service for encryption. It cannot be taken away again: without it the backend is unreadable.'),
  settings: z
    .array(setting)
    .max(128)
    .optional()
    .describe('Further settings of the server.')
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
  addresses: z
    .strictObject({ s3: listenAddress('S3 API', 9000), console: listenAddress('console', 9090) })
    .prefault({})
    .describe('Where the server is reached.'),
  storage: storage.prefault({}).describe('Where objects are kept.'),
  notificationTargets,
  auditTargets,
  tiers,
  tls: z
    .strictObject({
      secretName: coreObjectName
        .optional()
        .describe('Secret with the keys tls.crt and tls.key; re-read when it changes.'),
      certManager: certManager.optional().describe('An issuer of cert-manager makes the certificate.'),
      operatorMade: z
        .boolean()
        .optional()
        .describe('True: the operator makes the certificate, with an authority of its own for this tenant.'),
      dnsNames: dnsNames.optional(),
    })
    .optional()
    .describe('TLS of the S3 API and the console: exactly one of secretName, certManager, operatorMade.'),
  services: z
    .strictObject({ s3: service.optional(), console: service.optional() })
    .optional()
    .describe('Services of the two ports; of type ClusterIP without it.'),
  ingress: z
    .strictObject({ s3: ingress.optional(), console: ingress.optional() })
    .optional()
    .describe('Host names at an ingress controller.'),
  monitoring: monitoring.optional().describe('A ServiceMonitor for Prometheus.'),
  networkPolicy: z
    .strictObject({
      enabled: z.boolean().default(true).describe('Whether a NetworkPolicy is made.'),
      from: peers
        .optional()
        .describe('NetworkPolicyPeer objects that may reach the S3 API and the console; everyone without it.'),
    })
    .prefault({})
    .describe('Other ports of the pods admit nobody.'),
});
export type TenantSpec = z.output<typeof tenantSpec>;

/** A change of this annotation restarts the program of a Tenant or KMSConfig. */
/** On a Tenant: a store that was restored before this time, in ISO 8601, goes on in place of the original. */
export const promoteAnnotation = 'coffer.dev/promotedAt';
export const restartAnnotation = 'coffer.dev/restartedAt';

/** A change of this annotation makes new keys for the certificates of a Tenant or KMSConfig. */
export const rotateAnnotation = 'coffer.dev/rotatedAt';

/** On a Tenant: the ID of the deployment whose store replaces the one that the status names. It counts for this store alone. */
export const acceptStoreAnnotation = 'coffer.dev/accept-store';

/** The user moved the keys of a Tenant to the KMSConfig of this name, so no proof is needed. */
export const keysProvenAnnotation = 'coffer.dev/keysProvenIn';
