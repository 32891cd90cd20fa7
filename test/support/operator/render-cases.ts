import { ResourceError } from '../../../operator/api/resource-error.ts';
import { createHash } from 'node:crypto';
import { issueCertificate } from '../../../platform/tls/issue-certificate.ts';
import type { CofferObject, IdentityProvider, KMSConfig, Tenant } from '../../../operator/api/object.ts';
import type { Secret } from '../../../operator/contract/secret.ts';
import { manifestOf, type Spec } from './rules/rule-case.ts';
import { validate } from '../../../operator/api/validate.ts';
import type { Workload } from '../../../operator/contract/workload.ts';
import { type RenderContext } from '../../../operator/render/render-context.ts';
import { renderTenant } from '../../../operator/render/render-tenant.ts';

// Resources and what they refer to, for the tests of the renderers.

/** A resource that passes its schema and rules. */
export function made(
  kind: CofferObject['kind'],
  name: string,
  spec: Spec,
  annotations?: Record<string, string>,
): CofferObject {
  const manifest = manifestOf(kind, name, spec);
  const result = validate(annotations ? { ...manifest, metadata: { name, annotations } } : manifest);
  if (result.kind !== 'object') throw new Error(JSON.stringify(result));
  return result.object;
}
/** A Tenant `demo`. */
export const tenant = (spec: Spec = {}, annotations?: Record<string, string>) =>
  made('Tenant', 'demo', spec, annotations) as Tenant;
/** A KMSConfig `keys`. */
export const kms = (spec: Spec = {}) =>
  made('KMSConfig', 'keys', { keystore: { files: {} }, defaultKey: 'first', ...spec }) as KMSConfig;
const providerFields: Spec = {
  configUrl: 'https://id.example.com/realms/a/.well-known/openid-configuration',
  clientId: 'coffer',
  clientSecretRef: { name: 'client', key: 'client-secret' },
};
/** An IdentityProvider `primary-iam`. */
export const provider = (spec: Spec = {}) =>
  made('IdentityProvider', 'primary-iam', { ...providerFields, ...spec }) as IdentityProvider;

/** A certificate with its key, as a user puts it into a Secret. */
export const ownPair = await issueCertificate({
  commonName: 'demo',
  dnsNames: ['demo.example'],
  validForMs: 3_600_000,
});

const kept = { name: 'accepted-primary-iam', key: 'client-secret' };
export const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';

/** Secrets, ConfigMaps and certificates that the tests' resources name; `more` Secrets win. */
export function context(more: Readonly<Record<string, Secret['data']>> = {}): RenderContext {
  const secrets: Readonly<Record<string, Secret['data']>> = {
    'demo-root-credentials': { rootUser: 'admin', rootPassword: 'root-password-value' },
    'accepted-primary-iam': { 'client-secret': 'client-secret-value' },
    tls: { 'tls.crt': ownPair.certPem, 'tls.key': ownPair.keyPem },
    azure: { secret: 'azure-secret-value' },
    vault: { 'role-id': 'vault-role-id-value', 'secret-id': 'vault-secret-id-value' },
    aws: { accessKey: 'aws-access-key-value', secretKey: 'aws-secret-key-value' },
    gcp: { 'key.json': '{"type": "service_account", "private_key": "gcp-key-value"}' },
    postgres: { url: 'postgres://coffer:postgres-value@db/coffer', 'ca.crt': pem },
    s3: { accessKey: 's3-access-key-value', secretKey: 's3-secret-key-value' },
    ...more,
  };
  return {
    secrets: new Map(Object.entries(secrets).map(([name, data]) => [name, { name, data }])),
    configMaps: new Map<string, Readonly<Record<string, string>>>([
      ['corporate-ca', { 'ca.crt': pem }],
      ['region', { region: 'eu-west-1' }],
    ]),
    certificates: new Map([
      ['keys-key-service', { identity: '1'.repeat(64), notAfter: new Date(0) }],
      ['demo-server-tls', { identity: '3'.repeat(64), notAfter: new Date(0) }],
      ['demo-key-service-client', { identity: '2'.repeat(64), notAfter: new Date(0) }],
    ]),
    fingerprint: (value) => createHash('sha256').update(value).digest('hex').slice(0, 12),
  };
}

/** The server of a tenant. */
export function server(
  of: Tenant,
  providers: readonly IdentityProvider[] = [],
  more: Readonly<Record<string, Secret['data']>> = {},
  service?: KMSConfig,
  by: RenderContext = context(more),
): Workload {
  const parts = {
    providers: providers.map((one) => ({ provider: one, kept })),
    rootSecret: 'demo-root-credentials',
    ...(service === undefined ? {} : { kms: service }),
  };
  return renderTenant(of, parts, by);
}

/** `Reason: message` of what stands in the way of rendering. */
export function issue(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof ResourceError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'none';
}
