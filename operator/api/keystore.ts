import { z } from 'zod';
import { caBundleFrom, secretKeyRef, secretRef, url } from './fields.ts';
import { volumeFields } from './volume-fields.ts';

const uuid = z
  .string()
  .regex(/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/)
  .max(36);
const word = z.string().min(1).max(255);

const azure = z.strictObject({
  endpoint: url('Address of the key vault, https://NAME.vault.azure.net.'),
  authorityHost: url(
    'Where tokens come from, https://HOST, in a private cloud; that of the cloud of the vault without it.',
  ).optional(),
  audience: url('What the tokens are for, https://HOST; what the vault itself asks for without it.').optional(),
  caBundleFrom: caBundleFrom
    .optional()
    .describe('CA certificates of the vault and of the authority, besides those of the system.'),
  clientSecret: z
    .strictObject({
      tenantId: uuid.describe('Directory (tenant) ID.'),
      clientId: uuid.describe('Application (client) ID.'),
      clientSecretRef: secretKeyRef.describe('Client secret of the application.'),
    })
    .optional()
    .describe('An application with a client secret.'),
  managedIdentity: z
    .strictObject({ clientId: uuid.optional().describe("Of a user-assigned identity; the node's own without it.") })
    .optional()
    .describe('The managed identity of the node.'),
  workloadIdentity: z
    .strictObject({
      tenantId: uuid.describe('Directory (tenant) ID.'),
      clientId: uuid.describe('Application (client) ID, federated with the service account of the pods.'),
    })
    .optional()
    .describe('The service account of the pods (Microsoft Entra Workload ID).'),
});

const vault = z.strictObject({
  endpoint: url('Address of the vault, https://HOST:8200.'),
  engine: word.default('kv').describe('Path of the key-value engine.'),
  version: z.enum(['v1', 'v2']).default('v1').describe('Version of the key-value engine.'),
  namespace: word.optional().describe('Namespace (Vault Enterprise).'),
  prefix: z.string().max(255).optional().describe('What the names of the secrets begin with.'),
  caBundleFrom: caBundleFrom.optional().describe('CA certificates of the vault; those of the system without it.'),
  approle: z
    .strictObject({
      engine: word.default('approle').describe('Path of the AppRole engine.'),
      roleIdSecretRef: secretKeyRef.describe('Role ID.'),
      secretIdSecretRef: secretKeyRef.describe('Secret ID.'),
    })
    .optional(),
  kubernetes: z
    .strictObject({
      engine: word.default('kubernetes').describe('Path of the Kubernetes auth engine.'),
      role: word.describe('Role that is bound to the service account of the pods.'),
    })
    .optional(),
});

const aws = z.strictObject({
  region: z
    .string()
    .min(1)
    .max(64)
    .regex(/^[a-z0-9-]+$/),
  endpoint: z.string().min(1).max(253).optional().describe("Host of AWS Secrets Manager; the region's own without it."),
  kmsKey: z.string().min(1).max(2048).optional().describe('Key of AWS KMS that encrypts the secrets.'),
  credentialsSecret: secretRef
    .optional()
    .describe(
      'Secret with the keys accessKey, secretKey and, where there is one, token; the identity of the pods without it.',
    ),
});

const gcp = z.strictObject({
  projectId: z.string().min(1).max(64),
  endpoint: z.string().min(1).max(253).optional().describe('Host of the Secret Manager.'),
  scopes: z
    .array(z.string().min(1).max(255))
    .max(16)
    .optional()
    .describe('OAuth scopes.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  credentialsSecretRef: secretKeyRef
    .optional()
    .describe('Key file (JSON) of a service account; the identity of the pods without it.'),
});

/** The store of the key service's keys. Exactly one field is set. */
export const keystore = z.strictObject({
  files: z
    .strictObject(volumeFields)
    .optional()
    .describe(
      'One file for each key, on a volume that all key services share; they run on one node where its accessMode is ReadWriteOnce.',
    ),
  azure: azure.optional().describe('Secrets of an Azure Key Vault.'),
  vault: vault.optional().describe('The key-value engine of a HashiCorp Vault.'),
  aws: aws.optional().describe('AWS Secrets Manager.'),
  gcp: gcp.optional().describe('Secret Manager of Google Cloud.'),
});
export type Keystore = z.output<typeof keystore>;

export const keystoreKinds = ['files', 'azure', 'vault', 'aws', 'gcp'] as const;
