import { z } from 'zod';
import { certManager, peers, monitoring, programFields } from './kubernetes-fields.ts';
import { duration, keyName, localHost, objectName, port, imageRule, isOneBundle } from './fields.ts';
import { keystore, keystoreKinds, type Keystore } from './keystore.ts';
import { celGiven, given, type Rules } from './rule.ts';
import { celSameVolume, sameVolume } from './volume-fields.ts';

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

const kindsOf = (keystore: Keystore) => keystoreKinds.filter((kind) => keystore[kind] !== undefined);
const celAzure = celGiven(
  ...['clientSecret', 'managedIdentity', 'workloadIdentity'].map((identity) => `self.keystore.azure.${identity}`),
);

const celOneBundle = (kind: string) =>
  `!has(${kind}) || !has(${kind}.caBundleFrom) || has(${kind}.caBundleFrom.configMapKeyRef) != has(${kind}.caBundleFrom.secretKeyRef)`;

export const kmsConfigRules: Rules<KMSConfigSpec> = {
  always: [
    imageRule,
    {
      field: 'spec.keystore',
      message: 'keystore must name exactly one of files, azure, vault, aws, gcp',
      cel: `(${celGiven(...keystoreKinds.map((kind) => `self.keystore.${kind}`))}) == 1`,
      holds: ({ keystore }) => kindsOf(keystore).length === 1,
    },
    {
      field: 'spec.keystore.azure.endpoint',
      message: 'keystore.azure.endpoint must begin with https://',
      cel: "!has(self.keystore.azure) || self.keystore.azure.endpoint.startsWith('https://')",
      holds: ({ keystore: { azure } }) => azure === undefined || azure.endpoint.startsWith('https://'),
    },
    {
      field: 'spec.keystore.azure',
      message: 'keystore.azure.authorityHost and audience must begin with https://',
      cel: "!has(self.keystore.azure) || ((!has(self.keystore.azure.authorityHost) || self.keystore.azure.authorityHost.startsWith('https://')) && (!has(self.keystore.azure.audience) || self.keystore.azure.audience.startsWith('https://')))",
      holds: ({ keystore: { azure } }) =>
        [azure?.authorityHost, azure?.audience].every((address) => address?.startsWith('https://') !== false),
    },
    ...(['azure', 'vault'] as const).map((kind) => ({
      field: `spec.keystore.${kind}.caBundleFrom`,
      message: `keystore.${kind}.caBundleFrom needs exactly one of configMapKeyRef, secretKeyRef`,
      cel: celOneBundle(`self.keystore.${kind}`),
      holds: ({ keystore }: KMSConfigSpec) => isOneBundle(keystore[kind]?.caBundleFrom),
    })),
    {
      field: 'spec.keystore.azure',
      message: 'keystore.azure needs exactly one of clientSecret, managedIdentity, workloadIdentity',
      cel: `!has(self.keystore.azure) || (${celAzure}) == 1`,
      holds: ({ keystore: { azure } }) =>
        azure === undefined || given(azure.clientSecret, azure.managedIdentity, azure.workloadIdentity) === 1,
    },
    {
      field: 'spec.keystore.vault.endpoint',
      message: 'keystore.vault.endpoint must begin with https:// or http://',
      cel: "!has(self.keystore.vault) || self.keystore.vault.endpoint.startsWith('https://') || self.keystore.vault.endpoint.startsWith('http://')",
      holds: ({ keystore: { vault } }) => vault === undefined || /^https?:\/\//.test(vault.endpoint),
    },
    {
      field: 'spec.keystore.vault',
      message: 'keystore.vault needs exactly one of approle, kubernetes',
      cel: '!has(self.keystore.vault) || has(self.keystore.vault.approle) != has(self.keystore.vault.kubernetes)',
      holds: ({ keystore: { vault } }) => vault === undefined || given(vault.approle, vault.kubernetes) === 1,
    },
    {
      field: 'spec.keystore.files.size',
      message: 'keystore.files.size is needed, such as 1Gi: the keys are kept on its volume',
      only: 'api-server',
      cel: '!has(self.keystore.files) || has(self.keystore.files.size) || has(self.keystore.files.existingClaim)',
      holds: ({ keystore: { files } }) => files === undefined || given(files.size, files.existingClaim) > 0,
    },
    {
      field: 'spec.keystore.files.path',
      message: 'keystore.files.path is a folder of one machine: in a cluster, name existingClaim or storageClassName',
      only: 'api-server',
      cel: '!has(self.keystore.files) || !has(self.keystore.files.path)',
      holds: ({ keystore: { files } }) => files?.path === undefined,
    },
    {
      field: 'spec.keystore.files',
      message: 'a volume that exists has its size and storage class already: leave out size and storageClassName',
      cel: '!has(self.keystore.files) || !has(self.keystore.files.existingClaim) || (!has(self.keystore.files.size) && !has(self.keystore.files.storageClassName))',
      holds: ({ keystore: { files } }) =>
        files?.existingClaim === undefined || given(files.size, files.storageClassName) === 0,
    },
    {
      field: 'spec.replicas',
      message: 'a volume of accessMode ReadWriteOncePod serves one replica',
      cel: "self.replicas == 1 || !has(self.keystore.files) || self.keystore.files.accessMode != 'ReadWriteOncePod'",
      holds: ({ replicas, keystore: { files } }) => replicas === 1 || files?.accessMode !== 'ReadWriteOncePod',
    },
    {
      field: 'spec.policies',
      message: 'the name of a policy may not begin with tenant-: those are the policies that the operator makes',
      cel: "!has(self.policies) || self.policies.all(p, !p.name.startsWith('tenant-'))",
      holds: ({ policies }) => (policies ?? []).every(({ name }) => !name.startsWith('tenant-')),
    },
    {
      field: 'spec.policies',
      message: 'a path in a policy must begin with /',
      cel: "!has(self.policies) || self.policies.all(p, p.allow.all(a, a.startsWith('/')) && (!has(p.deny) || p.deny.all(d, d.startsWith('/'))))",
      holds: ({ policies }) =>
        (policies ?? []).every(({ allow, deny }) => [...allow, ...(deny ?? [])].every((path) => path.startsWith('/'))),
    },
  ],
  onChange: [
    {
      field: 'spec.keystore',
      message: 'keystore may not change its kind: the keys would stay behind, and nothing could be decrypted',
      cel: keystoreKinds.map((kind) => `has(self.keystore.${kind}) == has(oldSelf.keystore.${kind})`).join(' && '),
      holds: (spec, old) => kindsOf(spec.keystore).join() === kindsOf(old.keystore).join(),
    },
    {
      field: 'spec.keystore.files',
      message: 'storageClassName, accessMode and existingClaim may not change: the keys would stay behind',
      cel: `!has(self.keystore.files) || !has(oldSelf.keystore.files) || (${celSameVolume('keystore.files')})`,
      holds: ({ keystore }, old) =>
        keystore.files === undefined ||
        old.keystore.files === undefined ||
        sameVolume(keystore.files, old.keystore.files),
    },
  ],
};
