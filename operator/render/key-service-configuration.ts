import type { KMSConfig, Tenant } from '../api/object.ts';
import { listen, mounted, text, type DocumentNode } from '../workload.ts';
import { keyProofCertificate, keyServiceClientCertificate } from './certificates.ts';
import { proofKeyPaths, tenantKeyPaths } from './key-policy.ts';
import type { RenderContext } from './render-context.ts';

/** `keysvc.yaml`: policies and keys are re-read while the key service runs, the rest at its start. */
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
 * A tenant whose certificate is still to be made has no policy yet, and keeps nobody else waiting. After a change of its key both
 * identities count: servers may hold either certificate.
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

/** The operator has a certificate of its own for that. */
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
