import { z } from 'zod';
import { host, image, keyName, objectName, port, secretKeyRef, url } from './fields.ts';
import type { Rules } from './rule.ts';

const uuid = z
  .string()
  .regex(/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/)
  .max(36);

const duration = z
  .string()
  .max(32)
  .regex(/^([0-9]+(ms|s|m|h|d))+$/);

/** Where the key service keeps its keys. Exactly one is given. */
const keystore = z.strictObject({
  files: z
    .strictObject({
      path: z.string().min(1).max(4096).optional().describe('Folder of the keys; a volume of its own without it.'),
      size: z.string().max(32).optional().describe('Size of the volume, e.g. 100Mi.'),
    })
    .optional()
    .describe('One file for each key, on a volume.'),
  azure: z
    .strictObject({
      endpoint: url('Address of the key vault, https://NAME.vault.azure.net.'),
      tenantId: uuid.describe('Directory (tenant) ID.'),
      clientId: uuid.describe('Application (client) ID.'),
      clientSecretRef: secretKeyRef.describe('Client secret of the application.'),
    })
    .optional()
    .describe('Secrets of an Azure Key Vault.'),
});

/** A key service, used by any number of tenants. */
export const kmsConfigSpec = z.strictObject({
  image: image.optional(),
  replicas: z.int().min(1).max(32).default(1).describe('Key services; the local runtime runs one.'),
  address: z
    .strictObject({
      host: host.default('127.0.0.1').describe('Address the local runtime listens on.'),
      port: port.default(7373).describe('Port of the key service.'),
    })
    .prefault({}),
  keystore: keystore.describe('Where the keys are kept: exactly one of files, azure.'),
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
  policies: z
    .array(
      z.strictObject({
        name: objectName,
        allow: z
          .array(z.string().min(1).max(512))
          .max(64)
          .describe('API path patterns.')
          .meta({ 'x-kubernetes-list-type': 'atomic' }),
        deny: z.array(z.string().min(1).max(512)).max(64).optional().meta({ 'x-kubernetes-list-type': 'atomic' }),
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
      }),
    )
    .max(32)
    .optional()
    .describe("Policies beside the tenants' own.")
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
});
export type KMSConfigSpec = z.output<typeof kmsConfigSpec>;

const kinds = ({ keystore }: KMSConfigSpec) => Object.keys(keystore).sort().join();

export const kmsConfigRules: Rules<KMSConfigSpec> = {
  always: [
    {
      field: 'spec.keystore',
      message: 'keystore must name exactly one of files, azure',
      cel: 'has(self.keystore.files) != has(self.keystore.azure)',
      holds: ({ keystore }) => (keystore.files === undefined) !== (keystore.azure === undefined),
    },
    {
      field: 'spec.keystore.azure.endpoint',
      message: 'keystore.azure.endpoint must begin with https://',
      cel: "!has(self.keystore.azure) || self.keystore.azure.endpoint.startsWith('https://')",
      holds: ({ keystore }) => keystore.azure === undefined || keystore.azure.endpoint.startsWith('https://'),
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
      cel: 'has(self.keystore.files) == has(oldSelf.keystore.files) && has(self.keystore.azure) == has(oldSelf.keystore.azure)',
      holds: (spec, old) => kinds(spec) === kinds(old),
    },
  ],
};
