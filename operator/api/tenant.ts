import { z } from 'zod';
import { host, image, keyName, objectName, port, secretKeyRef } from './fields.ts';
import type { Rules } from './rule.ts';

const settingName = z
  .string()
  .min(5)
  .max(128)
  .regex(/^SVC_[A-Z0-9_]+$/);

const listenAddress = (name: string, standard: number) =>
  z
    .strictObject({
      host: host.default('127.0.0.1').describe('Address the local runtime listens on.'),
      port: port.default(standard).describe(`Port of the ${name}.`),
    })
    .prefault({});

/** A storage server with its console. */
export const tenantSpec = z.strictObject({
  image: image.optional(),
  replicas: z.int().min(1).max(64).default(1).describe('Servers. The local runtime runs one.'),
  paused: z.boolean().default(false).describe('Leaves what runs as it is; only conditions are kept up to date.'),
  rootCredentialsSecret: z
    .strictObject({ name: objectName })
    .optional()
    .describe('Secret with the keys rootUser and rootPassword. Made by the operator without it.'),
  identityProviders: z
    .array(z.strictObject({ name: objectName.describe('Name of an IdentityProvider.') }))
    .max(32)
    .optional()
    .describe('Identity providers whose users may log in.')
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
  kmsConfigRef: z
    .strictObject({
      name: objectName.describe('Name of a KMSConfig.'),
      keyPrefix: z
        .string()
        .max(64)
        .regex(/^[A-Za-z0-9_-]*$/)
        .default('')
        .describe('The tenant may use only keys whose names begin so. Needed where tenants share a key service.'),
      defaultKey: keyName.optional().describe("Default key of this tenant; the KMSConfig's without it."),
    })
    .optional()
    .describe('Key service for encryption. It cannot be taken away again: without it the backend is unreadable.'),
  settings: z
    .array(
      z.strictObject({
        name: settingName.describe('Name of a setting, SVC_*.'),
        value: z.string().max(8192).optional(),
        valueFrom: z.strictObject({ secretKeyRef }).optional().describe('For secrets.'),
      }),
    )
    .max(128)
    .optional()
    .describe('Further settings of the server.')
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
  addresses: z
    .strictObject({ s3: listenAddress('S3 API', 9000), console: listenAddress('console', 9090) })
    .prefault({})
    .describe('Where the server is reached.'),
  storage: z
    .strictObject({
      size: z
        .string()
        .max(32)
        .regex(/^[0-9]+(\.[0-9]+)?(Ki|Mi|Gi|Ti|Pi|k|M|G|T|P)?$/)
        .optional()
        .describe('Size of the volume, e.g. 100Gi.'),
      path: z.string().min(1).max(4096).optional().describe('Folder on this machine, for the local runtime only.'),
    })
    .prefault({})
    .describe('Where objects are kept.'),
  tls: z
    .strictObject({
      secretName: objectName.describe('Secret with the keys tls.crt and tls.key; re-read when it changes.'),
    })
    .optional()
    .describe('TLS of the S3 API and the console.'),
});
export type TenantSpec = z.output<typeof tenantSpec>;

/** Changing this annotation's value restarts the server. */
export const restartAnnotation = 'coffer.dev/restartedAt';

export const tenantRules: Rules<TenantSpec> = {
  always: [
    {
      field: 'spec.settings',
      message: 'each setting needs exactly one of value, valueFrom',
      cel: '!has(self.settings) || self.settings.all(s, has(s.value) != has(s.valueFrom))',
      holds: ({ settings }) =>
        (settings ?? []).every(({ value, valueFrom }) => (value === undefined) !== (valueFrom === undefined)),
    },
    {
      field: 'spec.settings',
      message: 'root credentials are no settings: name a Secret in rootCredentialsSecret',
      cel: "!has(self.settings) || self.settings.all(s, !s.name.startsWith('SVC_ROOT_'))",
      holds: ({ settings }) => (settings ?? []).every(({ name }) => !name.startsWith('SVC_ROOT_')),
    },
    {
      field: 'spec.settings',
      message: 'OpenID providers are no settings: make an IdentityProvider and name it in identityProviders',
      cel: "!has(self.settings) || self.settings.all(s, !s.name.startsWith('SVC_IDENTITY_OPENID_'))",
      holds: ({ settings }) => (settings ?? []).every(({ name }) => !name.startsWith('SVC_IDENTITY_OPENID_')),
    },
    {
      field: 'spec.addresses',
      message: 'the S3 API and the console need different ports',
      cel: 'self.addresses.s3.port != self.addresses.console.port',
      holds: ({ addresses }) => addresses.s3.port !== addresses.console.port,
    },
    {
      field: 'spec.kmsConfigRef.defaultKey',
      message: 'kmsConfigRef.defaultKey must begin with keyPrefix, or the tenant could not use it',
      cel: '!has(self.kmsConfigRef) || !has(self.kmsConfigRef.defaultKey) || self.kmsConfigRef.defaultKey.startsWith(self.kmsConfigRef.keyPrefix)',
      holds: ({ kmsConfigRef }) =>
        kmsConfigRef?.defaultKey === undefined || kmsConfigRef.defaultKey.startsWith(kmsConfigRef.keyPrefix),
    },
  ],
  onChange: [
    {
      field: 'spec.kmsConfigRef',
      message:
        'kmsConfigRef cannot be removed: the backend is encrypted, and the server could not start without its keys',
      cel: '!has(oldSelf.kmsConfigRef) || has(self.kmsConfigRef)',
      holds: (spec, old) => old.kmsConfigRef === undefined || spec.kmsConfigRef !== undefined,
    },
  ],
};
