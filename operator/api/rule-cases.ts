import { apiVersion, type CofferObject } from './object.ts';

/**
 * Manifests that are good, and changes that a rule refuses: the same cases run against the functions here and, in test/api-server,
 * against the CEL of the generated CRDs on a real API server.
 */
export interface RuleCases {
  readonly kind: CofferObject['kind'];
  readonly plural: string;
  readonly good: readonly { readonly title: string; readonly spec: Spec }[];
  readonly bad: readonly { readonly title: string; readonly spec: Spec; readonly message: string }[];
  /** A change of the first into the second spec is refused. */
  readonly badChanges: readonly {
    readonly title: string;
    readonly from: Spec;
    readonly to: Spec;
    readonly message: string;
  }[];
}

export type Spec = Readonly<Record<string, unknown>>;

export function manifestOf(kind: string, name: string, spec: Spec) {
  return { apiVersion, kind, metadata: { name }, spec };
}

const provider: Spec = {
  configUrl: 'https://id.example.com/realms/a/.well-known/openid-configuration',
  clientId: 'coffer',
  clientSecretRef: { name: 'primary-iam-client', key: 'client-secret' },
};
const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';

const identityProviders: RuleCases = {
  kind: 'IdentityProvider',
  plural: 'identityproviders',
  good: [
    { title: 'the least', spec: provider },
    {
      title: 'every field',
      spec: {
        ...provider,
        displayName: 'Staff',
        scopes: ['openid', 'email'],
        claimName: 'groups',
        claimUserinfo: true,
        redirectUri: 'https://console.example.com/oauth_callback',
        vendor: 'keycloak',
        adminUrl: 'https://id.example.com/admin',
        realm: 'a',
        caBundle: pem,
      },
    },
    { title: 'role policies', spec: { ...provider, rolePolicy: ['readonly'] } },
    { title: 'a dynamic redirect address', spec: { ...provider, redirectUriDynamic: true } },
    { title: 'an empty list of scopes', spec: { ...provider, scopes: [] } },
  ],
  bad: [
    {
      title: 'a configUrl without its well-known end',
      spec: { ...provider, configUrl: 'https://id.example.com/realms/a' },
      message: 'configUrl must begin with https://',
    },
    {
      title: 'a configUrl of another scheme',
      spec: { ...provider, configUrl: 'ftp://id.example.com/.well-known/openid-configuration' },
      message: 'configUrl must begin with https://',
    },
    {
      title: 'role policies beside a claim',
      spec: { ...provider, rolePolicy: ['readonly'], claimName: 'groups' },
      message: 'rolePolicy and a claimName of your own exclude each other',
    },
    {
      title: 'scopes without openid',
      spec: { ...provider, scopes: ['email'] },
      message: 'scopes must contain openid',
    },
    {
      title: 'a vendor without adminUrl',
      spec: { ...provider, vendor: 'keycloak' },
      message: 'vendor and adminUrl belong together',
    },
    {
      title: 'an adminUrl without vendor',
      spec: { ...provider, adminUrl: 'https://id.example.com/admin' },
      message: 'vendor and adminUrl belong together',
    },
    {
      title: 'an adminUrl that does not end in /admin',
      spec: { ...provider, vendor: 'keycloak', adminUrl: 'https://id.example.com/' },
      message: 'adminUrl must begin with https://',
    },
    {
      title: 'a redirectUri that does not end in /oauth_callback',
      spec: { ...provider, redirectUri: 'https://console.example.com/' },
      message: 'redirectUri must begin with https://',
    },
    {
      title: 'a fixed and a dynamic redirect address',
      spec: { ...provider, redirectUri: 'https://console.example.com/oauth_callback', redirectUriDynamic: true },
      message: 'redirectUri and redirectUriDynamic exclude each other',
    },
    {
      title: 'a CA bundle that is no PEM',
      spec: { ...provider, caBundle: 'MIIB' },
      message: 'caBundle must hold PEM certificates',
    },
  ],
  badChanges: [],
};

const files: Spec = { keystore: { files: {} }, defaultKey: 'first' };
const azure = {
  endpoint: 'https://keys.vault.azure.net',
  tenantId: '00000000-0000-0000-0000-000000000001',
  clientId: '00000000-0000-0000-0000-000000000002',
  clientSecretRef: { name: 'azure', key: 'secret' },
};
const policy = { name: 'auditors', allow: ['/v1/log/audit'], identities: ['a'.repeat(64)] };

const kmsConfigs: RuleCases = {
  kind: 'KMSConfig',
  plural: 'kmsconfigs',
  good: [
    { title: 'keys in files', spec: files },
    { title: 'keys in Azure', spec: { keystore: { azure }, defaultKey: 'first' } },
    {
      title: 'every field',
      spec: {
        ...files,
        image: 'registry.example.com/coffer:1',
        replicas: 3,
        address: { host: '0.0.0.0', port: 7374 },
        keys: [{ name: 'a' }, { name: 'b' }],
        cache: { any: '5m', unused: '30s', offline: '1h' },
        policies: [{ ...policy, deny: ['/v1/key/delete/*'] }],
      },
    },
  ],
  bad: [
    { title: 'no keystore', spec: { ...files, keystore: {} }, message: 'keystore must name exactly one of' },
    {
      title: 'two keystores',
      spec: { ...files, keystore: { files: {}, azure } },
      message: 'keystore must name exactly one of',
    },
    {
      title: 'a key vault without TLS',
      spec: { ...files, keystore: { azure: { ...azure, endpoint: 'http://keys.vault.azure.net' } } },
      message: 'keystore.azure.endpoint must begin with https://',
    },
    {
      title: "a policy named like a tenant's",
      spec: { ...files, policies: [{ ...policy, name: 'tenant-demo' }] },
      message: 'the name of a policy may not begin with tenant-',
    },
    {
      title: 'a policy path without its slash',
      spec: { ...files, policies: [{ ...policy, allow: ['v1/status'] }] },
      message: 'a path in a policy must begin with /',
    },
    {
      title: 'a denied path without its slash',
      spec: { ...files, policies: [{ ...policy, deny: ['v1/status'] }] },
      message: 'a path in a policy must begin with /',
    },
  ],
  badChanges: [
    {
      title: 'another kind of keystore',
      from: files,
      to: { ...files, keystore: { azure } },
      message: 'keystore may not change its kind',
    },
  ],
};

const encrypted: Spec = { kmsConfigRef: { name: 'keys' } };

const tenants: RuleCases = {
  kind: 'Tenant',
  plural: 'tenants',
  good: [
    { title: 'nothing but a name', spec: {} },
    {
      title: 'every field',
      spec: {
        image: 'registry.example.com/coffer:1',
        replicas: 2,
        paused: true,
        rootCredentialsSecret: { name: 'root' },
        identityProviders: [{ name: 'primary-iam' }],
        kmsConfigRef: { name: 'keys', keyPrefix: 'demo-', defaultKey: 'demo-default' },
        settings: [
          { name: 'SVC_REGION', value: 'eu-west-1' },
          { name: 'SVC_KMS_KEYSVC_KEY_PASSWORD', valueFrom: { secretKeyRef: { name: 'x', key: 'y' } } },
        ],
        addresses: { s3: { host: '0.0.0.0', port: 9100 }, console: { port: 9190 } },
        storage: { size: '10Gi', path: '/srv/coffer' },
        tls: { secretName: 'tls' },
      },
    },
  ],
  bad: [
    {
      title: 'a setting without a value',
      spec: { settings: [{ name: 'SVC_REGION' }] },
      message: 'exactly one of value, valueFrom',
    },
    {
      title: 'a setting with two values',
      spec: { settings: [{ name: 'SVC_REGION', value: 'a', valueFrom: { secretKeyRef: { name: 'x', key: 'y' } } }] },
      message: 'exactly one of value, valueFrom',
    },
    {
      title: 'root credentials as a setting',
      spec: { settings: [{ name: 'SVC_ROOT_PASSWORD', value: 'secret' }] },
      message: 'root credentials are no settings',
    },
    {
      title: 'an OpenID provider as settings',
      spec: { settings: [{ name: 'SVC_IDENTITY_OPENID_CLIENT_ID', value: 'x' }] },
      message: 'OpenID providers are no settings',
    },
    {
      title: 'one port for two things',
      spec: { addresses: { s3: { port: 9000 }, console: { port: 9000 } } },
      message: 'the S3 API and the console need different ports',
    },
    {
      title: 'a default port taken by the other',
      spec: { addresses: { console: { port: 9000 } } },
      message: 'the S3 API and the console need different ports',
    },
    {
      title: 'a default key outside the prefix',
      spec: { kmsConfigRef: { name: 'keys', keyPrefix: 'demo-', defaultKey: 'other' } },
      message: 'kmsConfigRef.defaultKey must begin with keyPrefix',
    },
  ],
  badChanges: [{ title: 'encryption taken away', from: encrypted, to: {}, message: 'kmsConfigRef cannot be removed' }],
};

export const ruleCases: readonly RuleCases[] = [tenants, identityProviders, kmsConfigs];
