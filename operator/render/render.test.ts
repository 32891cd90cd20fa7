import { issueCertificate } from '../../platform/tls/issue-certificate.ts';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { setting, settings } from '../../protocol/settings/table.ts';
import type { identityProviderSpec } from '../api/identity-provider.ts';
import { podFieldNames } from '../api/kubernetes-fields.ts';
import type { Tenant } from '../api/object.ts';
import { podSpec, type Spec } from '../../test/support/operator/rules/rule-case.ts';
import { sharedStores } from '../../test/support/operator/rules/tenant-cases.ts';
import { tenantSpec } from '../api/tenant.ts';
import { restartReasons } from '../reconcile/rollout.ts';
import { certificateNeeds } from './certificates.ts';
import { context, kms, made, pem, issue, provider, server, tenant } from '../../test/support/operator/render-cases.ts';
import { renderKeyService } from './render-key-service.ts';

describe('what is rendered (golden/)', () => {
  const full = tenant({
    identityProviders: [{ name: 'primary-iam' }],
    kmsConfigRef: { name: 'keys', keyPrefix: 'demo-', defaultKey: 'demo-default' },
    settings: [{ name: 'SVC_REGION', value: 'eu-west-1' }],
    storage: { size: '10Gi' },
    tls: { secretName: 'tls' },
  });
  const fullProvider = provider({
    displayName: 'Staff',
    scopes: ['openid', 'email'],
    redirectUriDynamic: true,
    vendor: 'keycloak',
    adminUrl: 'https://id.example.com/admin',
    realm: 'a',
    caBundle: pem,
  });
  it('is the server of a tenant', async () => {
    await expect(stringify(server(full, [fullProvider], {}, kms()))).toMatchFileSnapshot('golden/server.yaml');
  });
  it('is the key service of two tenants', async () => {
    const other = made('Tenant', 'plain', {}) as Tenant;
    await expect(
      stringify(renderKeyService(kms({ keys: [{ name: 'second' }] }), [full, other], context())),
    ).toMatchFileSnapshot('golden/key-service.yaml');
  });
  it('are the certificates that both need', async () => {
    await expect(stringify(certificateNeeds([full], new Map([['keys', kms()]])))).toMatchFileSnapshot(
      'golden/certificates.yaml',
    );
  });
});

describe('secrets', () => {
  it('reach neither arguments nor the environment nor any other part of a workload', () => {
    const full = tenant({ kmsConfigRef: { name: 'keys' }, tls: { secretName: 'tls' } });
    const text = JSON.stringify(server(full, [provider()], {}, kms()));
    expect(text).not.toMatch(/root-password-value|client-secret-value|tls-key-value/);
  });
  it('are given by the _FILE form of their setting', () => {
    const names = server(tenant(), [provider()]).environment.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'SVC_ROOT_USER_FILE',
        'SVC_ROOT_PASSWORD_FILE',
        'SVC_IDENTITY_OPENID_CLIENT_SECRET_PRIMARY_IAM_FILE',
      ]),
    );
  });
});

describe('names of variables', () => {
  it('are all in the settings table', () => {
    const full = tenant({ kmsConfigRef: { name: 'keys' }, tls: { secretName: 'tls' } });
    for (const { name } of server(full, [provider({ caBundle: pem })], {}, kms()).environment) {
      const base = name.replace('_PRIMARY_IAM', '');
      // A setting whose value is a file has the suffix in its own name; another is read from a file by it.
      const known = settings.some((row) => row.name === base) ? base : base.replace(/_FILE$/, '');
      expect(setting(known).name).toBe(known);
    }
  });
});

describe('a change of the IdentityProvider', () => {
  const of = tenant({ identityProviders: [{ name: 'primary-iam' }] });
  const changes: Readonly<Record<keyof typeof identityProviderSpec.shape, Spec>> = {
    configUrl: { configUrl: 'https://id.example.com/realms/b/.well-known/openid-configuration' },
    clientId: { clientId: 'other' },
    cliClientId: { cliClientId: 'command-line' },
    clientSecretRef: { clientSecretRef: { name: 'client', key: 'other' } },
    displayName: { displayName: 'Staff' },
    scopes: { scopes: ['openid', 'profile'] },
    claimName: { claimName: 'groups' },
    claimUserinfo: { claimUserinfo: true },
    rolePolicy: { rolePolicy: ['readonly'] },
    redirectUri: { redirectUri: 'https://console.example.com/oauth_callback' },
    redirectUriDynamic: { redirectUriDynamic: true },
    vendor: { vendor: 'keycloak', adminUrl: 'https://id.example.com/admin' },
    adminUrl: { vendor: 'keycloak', adminUrl: 'https://id.example.com/admin' },
    realm: { realm: 'b', vendor: 'keycloak', adminUrl: 'https://id.example.com/admin' },
    caBundle: { caBundle: pem },
    caBundleFrom: { caBundleFrom: { configMapKeyRef: { name: 'corporate-ca', key: 'ca.crt' } } },
    enabled: { enabled: false },
    claimPrefix: { claimPrefix: 'coffer_' },
    comment: { comment: 'of the staff' },
  };
  it.each(Object.entries(changes))('of spec.%s restarts the server and names the field', (field, change) => {
    const before = server(of, [provider()]);
    const after = server(of, [provider(change)]);
    expect(restartReasons(before.inputs, after.inputs, before.owner)).toContainEqual({
      reason: 'IdentityProviderChanged',
      field: `spec.${field} of IdentityProvider primary-iam`,
    });
  });
  it.each(Object.entries(changes))('of spec.%s back to nothing is named too', (field, change) => {
    const before = server(of, [provider(change)]);
    const after = server(of, [provider()]);
    expect(restartReasons(before.inputs, after.inputs, before.owner).map((restart) => restart.field)).toContain(
      `spec.${field} of IdentityProvider primary-iam`,
    );
  });
  it.each([
    [{}, 'ENABLE', undefined],
    [{ enabled: false }, 'ENABLE', 'off'],
    [{ comment: 'of the staff' }, 'COMMENT', 'of the staff'],
    [{ claimPrefix: 'coffer_' }, 'CLAIM_PREFIX', 'coffer_'],
    [{ claimUserinfo: true }, 'CLAIM_USERINFO', 'on'],
    [{ scopes: ['openid', 'email'] }, 'SCOPES', 'openid,email'],
    [{ rolePolicy: [] }, 'ROLE_POLICY', undefined],
  ])('to %j is given to the server as SVC_IDENTITY_OPENID_%s', (change, part, expected) => {
    const name = `SVC_IDENTITY_OPENID_${part}_PRIMARY_IAM`;
    const found = server(of, [provider(change)]).environment.find((each) => each.name === name);
    expect(found?.value.parts).toEqual(expected === undefined ? undefined : [expected]);
  });
  it('of the value of its Secret is named by Secret and key', () => {
    const before = server(of, [provider()]);
    const after = server(of, [provider()], { 'accepted-primary-iam': { 'client-secret': 'rotated' } });
    expect(restartReasons(before.inputs, after.inputs, before.owner)).toEqual([
      { reason: 'SecretChanged', field: 'key client-secret of Secret client' },
    ]);
  });
  it('in spelling alone restarts nothing', () => {
    const before = server(of, [provider()]);
    const after = server(of, [provider({ claimName: 'policy', redirectUriDynamic: false })]);
    expect(restartReasons(before.inputs, after.inputs, before.owner)).toEqual([]);
  });
});

describe('a change of the Tenant', () => {
  const changes: readonly (readonly [string, Spec, string])[] = [
    ['image', { image: 'coffer:2' }, 'ImageChanged: spec.image of Tenant demo'],
    ['addresses', { addresses: { s3: { port: 9100 } } }, 'TenantChanged: spec.addresses of Tenant demo'],
    [
      'kubernetesServiceAccounts',
      { kubernetesServiceAccounts: { audience: 'demo' } },
      'TenantChanged: spec.kubernetesServiceAccounts of Tenant demo',
    ],
    ['storage', { storage: { path: '/srv' } }, 'TenantChanged: spec.storage.path of Tenant demo'],
    ['tls', { tls: { secretName: 'tls' } }, 'TenantChanged: spec.tls of Tenant demo'],
    [
      'settings',
      { settings: [{ name: 'SVC_REGION', value: 'x' }] },
      'SettingsChanged: setting SVC_REGION of Tenant demo',
    ],
    [
      'notificationTargets',
      { notificationTargets: [{ id: 'BUILD', webhook: { endpoint: 'https://build.example.com' } }] },
      'SettingsChanged: spec.notificationTargets[BUILD] of Tenant demo',
    ],
    [
      'auditTargets',
      { auditTargets: [{ id: 'SIEM', webhook: { endpoint: 'https://siem.example.com' } }] },
      'SettingsChanged: spec.auditTargets[SIEM] of Tenant demo',
    ],
  ];
  const restartless: Readonly<Record<string, Spec>> = {
    'addresses.s3.host as written out by the schema of before': { addresses: { s3: { host: '127.0.0.1' } } },
    paused: { paused: true },
    hibernated: { hibernated: true },
    replicas: { storage: sharedStores['s3'], replicas: 2 },
    services: { services: { s3: { type: 'LoadBalancer' } } },
    ingress: { ingress: { s3: { host: 's3.example.com' } } },
    monitoring: { monitoring: { serviceMonitor: {} } },
    networkPolicy: { networkPolicy: { enabled: false } },
    reclaimPolicy: { reclaimPolicy: 'Delete' },
    tiers: { tiers: [{ name: 'COLD', type: 's3', bucket: 'cold', credentialsSecret: { name: 'cold' } }] },
  };
  it.each(changes)('of spec.%s restarts the server', (_, change, expected) => {
    const before = server(tenant());
    const restarts = restartReasons(before.inputs, server(tenant(change)).inputs, before.owner);
    expect(restarts.map(({ reason, field }) => `${reason}: ${field}`)).toEqual([expected]);
  });
  it.each(Object.entries(podSpec))('of spec.%s restarts the server as a change of its pods', (field, value) => {
    const before = server(tenant());
    const after = server(tenant({ [field]: value }));
    expect(restartReasons(before.inputs, after.inputs, before.owner)).toEqual([
      { reason: 'PodTemplateChanged', field: `spec.${field} of Tenant demo` },
    ]);
  });
  it('of the restart annotation restarts the server', () => {
    const before = server(tenant());
    const after = server(tenant({}, { 'coffer.dev/restartedAt': 'now' }));
    expect(restartReasons(before.inputs, after.inputs, before.owner)).toEqual([
      { reason: 'RestartRequested', field: 'annotation coffer.dev/restartedAt of Tenant demo' },
    ]);
  });
  it.each([['storage.size', { storage: { size: '20Gi' } }], ...Object.entries(restartless)])(
    'of spec.%s restarts nothing',
    (_, change) => {
      const before = server(tenant('replicas' in change ? { ...change, replicas: 1 } : {}));
      expect(restartReasons(before.inputs, server(tenant(change)).inputs, before.owner)).toEqual([]);
    },
  );
  it('has a case for each field of the schema', () => {
    const tried = new Set([...changes.map(([field]) => field), ...podFieldNames, ...Object.keys(restartless)]);
    // These have inputs of their own: providers, key service and Secrets.
    const elsewhere = ['identityProviders', 'kmsConfigRef', 'rootCredentialsSecret'];
    expect(
      Object.keys(tenantSpec.shape)
        .filter((field) => !tried.has(field))
        .sort(),
    ).toEqual(elsewhere);
  });
});

const renewed = await issueCertificate({ commonName: 'renewed', validForMs: 3_600_000 });

describe('a renewed TLS Secret', () => {
  it.each([
    ['another Secret', { secretName: 'other' }],
    ['a certificate that the operator makes', { operatorMade: true }],
  ])('and %s restart nothing, since the server re-reads its files', (_, tls) => {
    const before = server(tenant({ tls: { secretName: 'tls' } }));
    const after = server(tenant({ tls }), [], { other: { 'tls.crt': renewed.certPem, 'tls.key': renewed.keyPem } });
    expect(restartReasons(before.inputs, after.inputs, before.owner)).toEqual([]);
  });
  it('restarts nothing, since the server re-reads it', () => {
    const before = server(tenant({ tls: { secretName: 'tls' } }));
    const after = server(tenant({ tls: { secretName: 'tls' } }), [], {
      tls: { 'tls.crt': renewed.certPem, 'tls.key': renewed.keyPem },
    });
    expect(restartReasons(before.inputs, after.inputs, before.owner)).toEqual([]);
  });
});

describe('what cannot be rendered', () => {
  it('names the missing Secret and who names it', () => {
    expect(issue(() => server(tenant({ tls: { secretName: 'gone' } })))).toBe(
      'SecretNotFound: spec.tls.secretName of Tenant demo names the Secret gone, which does not exist',
    );
  });
  it.each([
    [
      'storage.records.postgres',
      { storage: { records: { postgres: { urlSecretRef: { name: 'gone', key: 'url' } } } } },
    ],
    [
      'storage.blobs.s3',
      { storage: { blobs: { s3: { endpoint: 'https://s3', bucket: 'one', credentialsSecret: { name: 'gone' } } } } },
    ],
    [
      'settings',
      { settings: [{ name: 'SVC_KMS_KEYSVC_API_KEY', valueFrom: { secretKeyRef: { name: 'gone', key: 'a' } } }] },
    ],
  ])('tells of %s, whose Secret is missing, and not of its key', (_field, spec) => {
    expect(issue(() => server(tenant(spec)))).toMatch(/^SecretNotFound: .* names the Secret gone, which does not/);
  });
  it('names the missing key and those that are there', () => {
    const more = { 'demo-root-credentials': { rootUser: 'a' } };
    expect(issue(() => server(tenant(), [], more))).toContain('has no such key (it has: rootUser)');
  });
  it('names the missing KMSConfig', () => {
    expect(issue(() => server(tenant({ kmsConfigRef: { name: 'keys' } })))).toContain('KMSConfigNotFound');
  });
  it.each([
    [{ name: 'SVC_NO_SUCH', value: 'x' }, 'SVC_NO_SUCH is no setting of the server'],
    [{ name: 'SVC_ADDRESS', value: ':1' }, 'SVC_ADDRESS is made by the operator'],
    [{ name: 'SVC_KMS_KEYSVC_API_KEY', value: 'x' }, 'is a secret: give it by valueFrom.secretKeyRef'],
    [{ name: 'SVC_THREADS', value: 'many' }, 'SVC_THREADS is "many"'],
  ])('tells what is wrong with the setting %j', (row, message) => {
    expect(issue(() => server(tenant({ settings: [row] })))).toContain(message);
  });
  it('refuses a default key that the prefix forbids', () => {
    const of = tenant({ kmsConfigRef: { name: 'keys', keyPrefix: 'demo-' } });
    expect(issue(() => server(of, [], {}, kms()))).toContain('does not begin with spec.kmsConfigRef.keyPrefix');
  });
});

const document = (of: readonly Tenant[]) => JSON.stringify(renderKeyService(kms(), of, context()));

describe('the policy of a tenant at the key service', () => {
  it('holds the identity of its client certificate', () => {
    expect(document([tenant({ kmsConfigRef: { name: 'keys' } })])).toContain('2'.repeat(64));
  });
  it('is restricted to the prefix of its keys', () => {
    const text = document([tenant({ kmsConfigRef: { name: 'keys', keyPrefix: 'demo-' } })]);
    expect(text).toContain('/v1/key/decrypt/demo-*');
    expect(text).not.toContain('/v1/key/decrypt/*');
  });
  it('is left out for a tenant whose prefix overlaps with an earlier one', () => {
    const first = made('Tenant', 'a', { kmsConfigRef: { name: 'keys', keyPrefix: 'x' } }) as Tenant;
    const second = tenant({ kmsConfigRef: { name: 'keys', keyPrefix: 'xy' } });
    const withIdentity = new Map(context().certificates).set('a-key-service-client', {
      identity: '3'.repeat(64),
      notAfter: new Date(0),
    });
    const rendered = renderKeyService(kms(), [first, second], { ...context(), certificates: withIdentity });
    expect(JSON.stringify(rendered)).not.toContain('2'.repeat(64));
  });
});
