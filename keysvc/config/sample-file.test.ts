import { describe, expect, it } from 'vitest';
import { parseConfig } from './config-file.ts';

const identity = 'c'.repeat(64);

/** All settings of the sample file of KES but `keystore`: what an administrator leaves alone is empty. */
const sample = `
version: v1
address: 0.0.0.0:7373 # all interfaces
admin:
  identity: ${identity}
tls:
  key: ./server.key
  cert: ./server.cert
  password: ""
  auth: ""
  ca: ""
  proxy:
    identities: []
    header:
      cert: X-Tls-Client-Cert
api:
  /v1/ready:
    skip_auth: false
    timeout: 15s
policy:
  my-app:
    allow:
    - /v1/key/create/my-app*
    - /v1/key/generate/my-app*
    deny:
    - /v1/key/generate/my-app-internal*
    identities:
    - ${'a'.repeat(64)}
  my-app-ops:
    allow:
    - /v1/key/delete/my-app*
    - /v1/policy/show/my-app
    - /v1/identity/assign/my-app/*
    identities:
    - ${'b'.repeat(64)}
cache:
  expiry:
    any: 5m0s
    unused: 20s
    offline: 0s
log:
  error: on
  audit: off
keys:
- name: some-key-name
- name: another-key-name
keystore:
`;

/** The settings of a store in the sample file, with what it needs filled in. */
const stores: Readonly<Record<string, string>> = {
  fs: `
    path: /var/keys`,
  'vault with AppRole': `
    endpoint: https://127.0.0.1:8200
    engine: ""
    version: ""
    namespace: ""
    prefix: ""
    transit:
      engine: ""
      key: ""
    approle:
      namespace: ""
      engine: ""
      id: "1234"
      secret: 5678
    kubernetes:
      namespace: ""
      engine: ""
      role: ""
      jwt: ""
    tls:
      key: ""
      cert: ""
      ca: ""
    status:
      ping: 10s`,
  'vault with Kubernetes': `
    endpoint: https://127.0.0.1:8200
    engine: secret
    version: v2
    namespace: ns1
    prefix: tenant-1
    transit:
      engine: my-transit
      key: my-key
    approle:
      namespace: ""
      engine: ""
      id: ""
      secret: ""
      retry: 15s
    kubernetes:
      namespace: /
      engine: authenticate
      role: default
      jwt: eyJhbGciOiJSUzI1NiIsImtpZCI6IktNTlh
      retry: 15s
    tls: { key: "", cert: "", ca: "" }
    status: { ping: "" }`,
  aws: `
    secretsmanager:
      endpoint: secretsmanager.us-east-2.amazonaws.com
      region: us-east-2
      kmskey: ""
      credentials:
        accesskey: ""
        secretkey: ""
        token: ""`,
  gcp: `
    secretmanager:
      project_id: my-project
      endpoint: ""
      scopes:
      - ""
      credentials:
        client_email: ""
        client_id: ""
        private_key_id: ""
        private_key: ""`,
  'azure with a secret': `
    keyvault:
      endpoint: https://my-instance.vault.azure.net
      credentials:
        tenant_id: t
        client_id: c
        client_secret: s
      managed_identity:
        client_id: ""`,
  'azure with a managed identity': `
    keyvault:
      endpoint: https://my-instance.vault.azure.net
      credentials:
        tenant_id: ""
        client_id: ""
        client_secret: ""
      managed_identity:
        client_id: m`,
};

const withStore = (store: string, settings: string) => `${sample}  ${store.split(' ')[0]}:${settings}\n`;

describe('the sample file of KES', () => {
  it.each([
    ['fs', { kind: 'files', path: '/var/keys' }],
    [
      'vault with AppRole',
      {
        kind: 'vault',
        engine: 'kv',
        version: 'v1',
        prefix: '',
        login: { kind: 'approle', engine: 'approle', roleId: '1234', secretId: '5678' },
      },
    ],
    [
      'vault with Kubernetes',
      {
        kind: 'vault',
        engine: 'secret',
        version: 'v2',
        namespace: 'ns1',
        prefix: 'tenant-1',
        transit: { engine: 'my-transit', key: 'my-key' },
        login: { kind: 'kubernetes', engine: 'authenticate', role: 'default', namespace: '/' },
      },
    ],
    ['aws', { kind: 'aws', region: 'us-east-2', endpoint: 'https://secretsmanager.us-east-2.amazonaws.com' }],
    ['gcp', { kind: 'gcp', projectId: 'my-project' }],
    [
      'azure with a secret',
      { kind: 'azure', login: { kind: 'client-secret', tenantId: 't', clientId: 'c', clientSecret: 's' } },
    ],
    ['azure with a managed identity', { kind: 'azure', login: { kind: 'managed-identity', clientId: 'm' } }],
  ])('is read with its store %s', (store, keyStore) => {
    const config = parseConfig(withStore(store, stores[store] ?? ''), {});
    expect(config).toMatchObject({
      admin: identity,
      verifyClients: true,
      cache: { any: 300_000, unused: 20_000, offline: 0 },
      keys: ['some-key-name', 'another-key-name'],
      logErrors: true,
      logAudit: false,
      keyStore,
    });
    expect(config.policies.map(({ name }) => name)).toEqual(['my-app', 'my-app-ops']);
  });

  it.each([
    [
      'fortanix',
      'sdkms: { endpoint: "https://sdkms.example", group_id: "", credentials: { key: k }, tls: { ca: "" } }',
    ],
    ['gemalto', 'keysecure: { endpoint: "https://127.0.0.1", credentials: { token: t, domain: "", retry: 15s } }'],
    [
      'entrust',
      'keycontrol: { endpoint: "https://e", vault_id: v, box_id: b, credentials: { username: u, password: p } }',
    ],
  ])('is refused by name with its store %s', (store, settings) => {
    expect(() => parseConfig(withStore(store, `\n    ${settings}`), {})).toThrow(
      new RegExp(`keystore\\.${store} is not supported; what is: fs, azure, vault, aws, gcp, kes`),
    );
  });
});
