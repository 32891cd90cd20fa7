import { z } from 'zod';
import { parseDuration } from './duration.ts';

/** The settings below `keystore`, by kind, in the format of the protocol's configurations. */

/** An empty text counts as missing, since `${NAME}` may be an empty variable. */
const text = z
  .string()
  .nullish()
  .transform((value) => (value === null || value === '' ? undefined : value));
const needed = z.string({ error: 'is missing' }).min(1, 'is empty');
const optional = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);

/** Accepted without effect: every request detects an unavailable store itself and retries. */
const noEffect = optional(
  z.string().refine((value) => parseDuration(value) !== undefined, 'is no duration; write for example 15s'),
);

const files = z.strictObject({ path: z.string().min(1, 'the path is empty') });

const azure = z.strictObject({
  keyvault: z.strictObject({
    endpoint: needed,
    authority: text,
    audience: text,
    tls: optional(z.strictObject({ ca: text })),
    credentials: optional(z.strictObject({ tenant_id: needed, client_id: needed, client_secret: needed })),
    managed_identity: optional(z.strictObject({ client_id: text })),
    workload_identity: optional(z.strictObject({ tenant_id: text, client_id: text, token_file: text })),
  }),
});

const vault = z.strictObject({
  endpoint: needed,
  engine: text,
  version: optional(z.enum(['v1', 'v2'])),
  namespace: text,
  prefix: text,
  approle: optional(z.strictObject({ engine: text, namespace: text, id: needed, secret: needed, retry: noEffect })),
  kubernetes: optional(z.strictObject({ engine: text, namespace: text, role: needed, jwt: text, retry: noEffect })),
  tls: optional(z.strictObject({ key: text, cert: text, ca: text })),
  status: optional(z.strictObject({ ping: noEffect })),
});

const aws = z.strictObject({
  secretsmanager: z.strictObject({
    endpoint: text,
    region: needed,
    kmskey: text,
    credentials: optional(z.strictObject({ accesskey: text, secretkey: text, token: text })),
  }),
});

const gcp = z.strictObject({
  secretmanager: z.strictObject({
    project_id: needed,
    endpoint: text,
    scopes: optional(z.array(z.string().min(1)).max(16)),
    credentials: optional(
      z.strictObject({ client_email: text, client_id: text, private_key_id: text, private_key: text }),
    ),
  }),
});

const kes = z.strictObject({
  endpoint: z.union([z.array(needed).min(1).max(64), needed.transform((one) => [one])], { error: 'is missing' }),
  enclave: text,
  tls: z.strictObject({ cert: needed, key: needed, ca: text }),
});

export const keyStoreSchemas = { fs: files, azure, vault, aws, gcp, kes } as const;

/** Key stores of the protocol's configuration that this key service does not support. */
export const unsupportedKeyStores = [
  'fortanix',
  'gemalto',
  'entrust',
  'generic',
  'encryptedfs',
  'openstack',
  'credhub',
];

export type KeyStoreFile = { [K in keyof typeof keyStoreSchemas]: z.infer<(typeof keyStoreSchemas)[K]> };
