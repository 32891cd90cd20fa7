import type { KMSConfig, Tenant } from '../api/object.ts';
import { listen, mounted, text, type DocumentNode } from '../contract/workload.ts';
import { keyProofCertificate, keyServiceClientCertificate } from './certificates.ts';
import type { RenderContext } from './render-context.ts';

/**
 * Returns what the policy of a tenant's server allows: the nine paths of the specification, and `describe`, by which a client finds out
 * whether a key exists. A prefix separates the tenants of one key service.
 */
export function tenantKeyPaths(keyPrefix: string): readonly string[] {
  const keys = `${keyPrefix}*`;
  return [
    `/v1/key/create/${keys}`,
    `/v1/key/describe/${keys}`,
    `/v1/key/generate/${keys}`,
    `/v1/key/decrypt/${keys}`,
    `/v1/key/bulk/decrypt/${keys}`,
    // A list without a pattern covers all keys, so it needs the empty prefix.
    keyPrefix === '' ? '/v1/key/list' : `/v1/key/list/${keys}`,
    '/v1/status',
    '/v1/metrics',
    '/v1/log/audit',
    '/v1/log/error',
  ];
}

/** Returns what the operator may do at a key service when it checks the keys of a tenant: decrypt with these keys. */
export function proofKeyPaths(keyPrefix: string): readonly string[] {
  return [`/v1/key/describe/${keyPrefix}*`, `/v1/key/decrypt/${keyPrefix}*`];
}

/**
 * Returns pairs of tenants whose prefixes overlap, so that one could use the other's keys: the later name of each pair, with the earlier.
 */
export function overlappingPrefixes(
  tenants: readonly { readonly name: string; readonly keyPrefix: string }[],
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const sorted = tenants.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const [index, tenant] of sorted.entries()) {
    const other = sorted
      .slice(0, index)
      .find(({ keyPrefix }) => keyPrefix.startsWith(tenant.keyPrefix) || tenant.keyPrefix.startsWith(keyPrefix));
    if (other !== undefined) found.set(tenant.name, other.name);
  }
  return found;
}

/** Renders `keysvc.yaml`. The key service re-reads policies and keys; it reads the rest at its start. */
export function keyServiceConfiguration(
  { spec, metadata }: KMSConfig,
  users: readonly Tenant[],
  movers: readonly Tenant[],
  keystore: DocumentNode,
  context: Pick<RenderContext, 'certificates'>,
): DocumentNode {
  return {
    version: 'v1',
    address: text`${listen('api')}`,
    root: 'disabled',
    tls: {
      cert: text`${mounted('certificates', 'tls.crt')}`,
      key: text`${mounted('certificates', 'tls.key')}`,
      ca: text`${mounted('certificates', 'ca.crt')}`,
      auth: 'on',
    },
    api: {
      '/v1/ready': { skip_auth: true },
      // A Prometheus has no certificate that the key service knows.
      ...(spec.monitoring === undefined ? {} : { '/v1/metrics': { skip_auth: true } }),
    },
    policy: Object.fromEntries<DocumentNode>([
      ...users.flatMap((tenant) => tenantPolicy(tenant, context)),
      ...proofPolicy(metadata.name, movers, context),
      ...(spec.policies ?? []).map(
        ({ name, allow, deny, identities }) =>
          [name, { allow, ...(deny === undefined ? {} : { deny }), identities }] as const,
      ),
    ]),
    keys: keyNames(spec, users).map((name) => ({ name })),
    ...(spec.cache === undefined ? {} : { cache: { expiry: defined(spec.cache) } }),
    log: { error: 'on', audit: 'on' },
    keystore,
  };
}

/**
 * A tenant whose certificate is not made yet has no policy, and delays no other tenant. After a change of its key both identities count,
 * since servers may hold either certificate.
 */
function tenantPolicy(
  { metadata: { name }, spec }: Tenant,
  { certificates }: Pick<RenderContext, 'certificates'>,
): readonly (readonly [string, DocumentNode])[] {
  const certificate = certificates.get(keyServiceClientCertificate(name));
  if (certificate === undefined) return [];
  const { identity, formerIdentity } = certificate;
  const identities =
    formerIdentity === undefined || formerIdentity === identity ? [identity] : [identity, formerIdentity];
  return [[`tenant-${name}`, { allow: tenantKeyPaths(spec.kmsConfigRef?.keyPrefix ?? ''), identities }]];
}

/** The operator has its own certificate for the check. */
function proofPolicy(
  kms: string,
  movers: readonly Tenant[],
  { certificates }: Pick<RenderContext, 'certificates'>,
): readonly (readonly [string, DocumentNode])[] {
  const certificate = certificates.get(keyProofCertificate(kms));
  if (certificate === undefined || movers.length === 0) return [];
  const prefixes = new Set(movers.map(({ spec }) => spec.kmsConfigRef?.keyPrefix ?? ''));
  return [['operator-key-proof', { allow: [...prefixes].flatMap(proofKeyPaths), identities: [certificate.identity] }]];
}

function keyNames(spec: KMSConfig['spec'], users: readonly Tenant[]): readonly string[] {
  const own = users.flatMap((tenant) => tenant.spec.kmsConfigRef?.defaultKey ?? []);
  return [...new Set([spec.defaultKey, ...own, ...(spec.keys ?? []).map(({ name }) => name)])];
}

function defined(values: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}
