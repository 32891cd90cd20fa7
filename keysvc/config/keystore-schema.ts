import { z } from 'zod';
import { parseDuration } from './duration.ts';
import { optional, texts } from './unset.ts';

/** The settings below `keystore`, by kind, in the format of the protocol's configurations. */

const text = optional(z.string());
const needed = z
  .string({ error: (issue) => (issue.input === undefined ? 'is missing' : 'is no text') })
  .min(1, 'is empty');

/** A section whose settings are all empty counts as missing, as in the sample configurations of the protocol. */
const section = <T extends z.ZodType>(schema: T, ignored: readonly string[] = []) =>
  z.preprocess((value) => (isEmpty(value, ignored) ? undefined : value), schema.optional());

function isEmpty(value: unknown, ignored: readonly string[]): boolean {
  if (value === null || value === '') return true;
  if (typeof value !== 'object' || Array.isArray(value)) return false;
  const entries = Object.entries(value ?? {});
  return entries.length > 0 && entries.every(([name, item]) => ignored.includes(name) || item === '' || item === null);
}

/** Accepted without effect: every request detects an unavailable store itself and retries. */
const noEffect = optional(
  z.string().refine((value) => parseDuration(value) !== undefined, 'is no duration; write for example 15s'),
);

const files = z.strictObject({ path: needed });

const azure = z.strictObject({
  keyvault: z.strictObject({
    endpoint: needed,
    authority: text,
    audience: text,
    tls: optional(z.strictObject({ ca: text })),
    credentials: section(z.strictObject({ tenant_id: needed, client_id: needed, client_secret: needed })),
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
  // The sample configurations have both logins, one of them with empty texts.
  approle: section(z.strictObject({ engine: text, namespace: text, id: needed, secret: needed, retry: noEffect }), [
    'engine',
    'namespace',
    'retry',
  ]),
  kubernetes: section(z.strictObject({ engine: text, namespace: text, role: text, jwt: text, retry: noEffect }), [
    'engine',
    'namespace',
    'retry',
  ]),
  /** Seals each record before it is written. */
  transit: section(z.strictObject({ engine: text, key: needed }), ['engine']),
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
    scopes: optional(texts(z.string()).refine(({ length }) => length <= 16, 'has more than 16 scopes')),
    credentials: optional(
      z.strictObject({ client_email: text, client_id: text, private_key_id: text, private_key: text }),
    ),
  }),
});

const kes = z.strictObject({
  endpoint: z.preprocess(
    (value) => (typeof value === 'string' ? [value] : value),
    texts(z.string()).refine(({ length }) => length > 0 && length <= 64, 'names no endpoint, or more than 64'),
  ),
  enclave: text,
  tls: z.strictObject({ cert: needed, key: needed, ca: text }),
});

export const keyStoreSchemas = { fs: files, azure, vault, aws, gcp, kes } as const;

/** The section of a store whose settings are a level deeper. Without its section such a store is not set. */
export const innerSections: Readonly<Record<string, string>> = {
  azure: 'keyvault',
  aws: 'secretsmanager',
  gcp: 'secretmanager',
  fortanix: 'sdkms',
  gemalto: 'keysecure',
  entrust: 'keycontrol',
};

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
