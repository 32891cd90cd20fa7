import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { podSpec } from '../../test/support/operator/rules/rule-case.ts';
import { sharedStores } from '../../test/support/operator/rules/tenant-cases.ts';
import { setting } from '../../protocol/settings/table.ts';
import { restartReasons } from '../reconcile/rollout.ts';
import { certificateNeeds } from './certificates.ts';
import { kms, issue, server, tenant } from '../../test/support/operator/render-cases.ts';

const exposed = tenant({
  ...podSpec,
  storage: { size: '10Gi', storageClassName: 'fast', accessMode: 'ReadWriteOncePod' },
  tls: { operatorMade: true, dnsNames: ['s3.example.com'] },
  services: { s3: { type: 'LoadBalancer', port: 443, annotations: { a: 'b' } } },
  ingress: { console: { host: 'console.example.com', className: 'nginx', tlsSecretName: 'console-tls' } },
  monitoring: { serviceMonitor: { interval: '1m', labels: { release: 'prometheus' } } },
  networkPolicy: { from: [{ namespaceSelector: {} }] },
  reclaimPolicy: 'Delete',
  hibernated: true,
});

describe('what is rendered (golden/)', () => {
  it('is a server with everything that Kubernetes can give', async () => {
    await expect(stringify(server(exposed), { singleQuote: true })).toMatchFileSnapshot('golden/server-exposed.yaml');
  });
  it.each(Object.keys(sharedStores))('are several servers over shared stores: %s', async (title) => {
    const of = tenant({ replicas: 3, storage: sharedStores[title] });
    await expect(stringify(server(of), { singleQuote: true })).toMatchFileSnapshot(`golden/server-${title}.yaml`);
  });
});

const policyOf = (networkPolicy: object) => server(tenant({ networkPolicy })).kubernetes.networkPolicy;

describe('the NetworkPolicy of a tenant', () => {
  it('admits everyone to its two ports where it says nothing else', () => {
    expect(policyOf({})).toEqual({ admits: { s3: undefined, console: undefined }, alsoFrom: [] });
  });
  it('admits whom it names only', () => {
    const from = [{ podSelector: {} }];
    expect(policyOf({ from })).toEqual({ admits: { s3: [], console: [] }, alsoFrom: from });
  });
  it('is left out where it is not wanted', () => {
    expect(policyOf({ enabled: false })).toBeUndefined();
  });
});

const stopSettingsOf = (spec: Readonly<Record<string, unknown>>) =>
  server(tenant(spec)).environment.flatMap(({ name }) => (/_SHUTDOWN_/.test(name) ? [name] : []));

describe('a server that is told to stop', () => {
  const several = { replicas: 3, storage: sharedStores['s3'] };
  it('accepts requests while its clients leave it, or refuses them where there is no other', () => {
    expect(stopSettingsOf(several)).toEqual(['SVC_SHUTDOWN_DELAY']);
    expect(stopSettingsOf({})).toEqual(['SVC_SHUTDOWN_REFUSAL']);
  });
  it('does what the settings of its Tenant say', () => {
    const settings = [{ name: 'SVC_SHUTDOWN_DELAY', value: '1s' }];
    expect(stopSettingsOf({ ...several, settings })).toEqual(['SVC_SHUTDOWN_DELAY']);
  });
});

describe('the token for Prometheus', () => {
  const monitoring = { serviceMonitor: {} };
  const optionsOf = (more: object) => server(tenant({ monitoring, ...more })).kubernetes.monitoring;
  it('is made from the root credentials', () => {
    expect(optionsOf({})?.tokenFrom).toEqual({
      secret: 'demo-root-credentials',
      userKey: 'rootUser',
      passwordKey: 'rootPassword',
    });
  });
  it('is not made where everybody may read the metrics', () => {
    const settings = [{ name: 'SVC_PROMETHEUS_AUTH_TYPE', value: 'public' }];
    expect(optionsOf({ settings })).toEqual({ port: 's3', path: '/minio/v2/metrics/cluster', labels: {} });
  });
  it('needs no restart', () => {
    expect(
      restartReasons(server(tenant({})).inputs, server(tenant({ monitoring })).inputs, {
        kind: 'Tenant',
        name: 'demo',
      }),
    ).toEqual([]);
  });
});

describe('stores that servers share', () => {
  it('need no volume of their own', () => {
    const of = server(tenant({ replicas: 3, storage: sharedStores['s3'] }));
    expect(of.mounts.filter(({ kind }) => kind === 'volume')).toEqual([]);
    expect(of.arguments[0]?.parts).toEqual(['--address']);
  });
  it('are given by settings of the table, their secrets as files', () => {
    const of = server(tenant({ storage: sharedStores['s3'] }));
    const names = of.environment.map(({ name }) => name).filter((name) => name.startsWith('SVC_STORE_'));
    expect(names.map((name) => setting(name.replace(/_FILE$/, '')).secret)).toEqual(
      names.map((name) => name.endsWith('_FILE')),
    );
    expect(JSON.stringify(of)).not.toMatch(/(postgres|access-key|secret-key)-value/);
  });
  it('restart the servers when a credential of theirs changes', () => {
    const of = tenant({ storage: sharedStores['s3'] });
    const [before, after] = [server(of), server(of, [], { s3: { accessKey: 'a', secretKey: 'new' } })];
    expect(restartReasons(before.inputs, after.inputs, before.owner)).toContainEqual({
      reason: 'SecretChanged',
      field: 'key secretKey of Secret s3',
    });
  });
});

const withSetting = (key: string, name = 'SVC_REGION') =>
  tenant({ settings: [{ name, valueFrom: { configMapKeyRef: { name: 'region', key } } }] });

const shownRegion = (setting: object) =>
  server(tenant({ settings: [{ name: 'SVC_REGION', ...setting }] })).inputs.find(
    ({ field }) => field === 'setting SVC_REGION',
  )?.shown;

describe('settings from a ConfigMap', () => {
  it('are read from it', () => {
    expect(server(withSetting('region')).environment).toContainEqual({
      name: 'SVC_REGION',
      value: { kind: 'text', parts: ['eu-west-1'] },
    });
  });
  it('restart the server when it changes', () => {
    const inputs = server(withSetting('region')).inputs.filter(({ reason }) => reason === 'ConfigMapChanged');
    expect(inputs.map(({ field, of: { kind, name } }) => `${field} of ${kind} ${name}`)).toEqual([
      'key region of ConfigMap region',
    ]);
  });
  it('record the region that counts, however it is written', () => {
    expect(shownRegion({ value: 'eu-west-1' })).toBe('eu-west-1');
    expect(shownRegion({ valueFrom: { configMapKeyRef: { name: 'region', key: 'region' } } })).toBe('eu-west-1');
    expect(shownRegion({ value: ' ' })).toBe('us-east-1');
  });
  it('are refused where the key is missing, the value is wrong, or the setting is a secret', () => {
    expect(issue(() => server(withSetting('zone')))).toContain('ConfigMapKeyMissing');
    expect(issue(() => server(withSetting('region', 'SVC_THREADS')))).toContain('SVC_THREADS is "eu-west-1"');
    expect(issue(() => server(withSetting('region', 'SVC_KMS_KEYSVC_KEY_PASSWORD')))).toContain(
      'give it by valueFrom.secret',
    );
  });
});

const needs = (spec: object, annotations?: Record<string, string>) =>
  certificateNeeds([tenant({ kmsConfigRef: { name: 'keys' }, ...spec }, annotations)], new Map([['keys', kms()]]));

describe('certificates', () => {
  it('of a server are made by the operator, or by an issuer, for all its names', () => {
    const made = needs({ tls: { operatorMade: true, dnsNames: ['s3.example.com'] } }).at(-1);
    expect(made).toMatchObject({ name: 'demo-server-tls', usages: ['server'], validFor: ['demo-server'] });
    expect(made?.alsoValidFor).toEqual(['s3.example.com', '127.0.0.1']);
    expect(made?.issuer).toBeUndefined();
    const issuerRef = { name: 'public', kind: 'ClusterIssuer' };
    expect(needs({ tls: { certManager: { issuerRef } } }).at(-1)).toMatchObject({
      issuer: { ...issuerRef, group: 'cert-manager.io' },
      validFor: ['demo-server'],
      alsoValidFor: [],
    });
  });
  it('of a public issuer have no name that is not public', () => {
    const tls = { certManager: { issuerRef: { name: 'public' } }, dnsNames: ['s3.example.com', 'a.example.com'] };
    expect(needs({ tls }).at(-1)).toMatchObject({
      commonName: 's3.example.com',
      validFor: [],
      alsoValidFor: tls.dnsNames,
    });
  });
  it('of a server are not needed where it brings its own', () => {
    expect(needs({ tls: { secretName: 'tls' } }).map(({ name }) => name)).not.toContain('demo-server-tls');
  });
  it('get a new key by the annotation of their owner alone', () => {
    const rotated = needs({}, { 'coffer.dev/rotatedAt': 'now' }).map(({ owner, rotation }) => [owner.kind, rotation]);
    expect(rotated).toEqual([
      ['KMSConfig', undefined],
      ['Tenant', 'now'],
    ]);
  });
  it('of a key service and its tenants live as long as it says, and come from its issuer', () => {
    const certificates = { life: '30d', certManager: { issuerRef: { name: 'internal' } } };
    const of = certificateNeeds(
      [tenant({ kmsConfigRef: { name: 'keys' } })],
      new Map([['keys', kms({ certificates })]]),
    );
    expect(of.map(({ validForMs, issuer }) => [validForMs, issuer?.name])).toEqual([
      [2_592_000_000, 'internal'],
      [2_592_000_000, 'internal'],
    ]);
  });
});
