import { describe, expect, it } from 'vitest';
import type { KMSConfig, Tenant } from '../api/object.ts';
import { podSpec, type Spec } from '../../test/support/operator/rules/rule-case.ts';
import { podFieldNames } from '../api/kubernetes-fields.ts';
import { kmsConfigSpec } from '../api/kms-config.ts';
import { describeRestarts, restartReasons } from '../reconcile/rollout.ts';
import type { IssuedCertificate, Json } from '../contract/workload.ts';
import { context, kms, made, issue, server, tenant } from '../../test/support/operator/render-cases.ts';
import type { RenderContext } from './render-context.ts';
import { renderKeyService } from './render-key-service.ts';

const user = (name: string, keyPrefix: string) =>
  made('Tenant', name, { kmsConfigRef: { name: 'keys', keyPrefix } }) as Tenant;
const identityOf = (digit: string, former?: string): IssuedCertificate => ({
  identity: digit.repeat(64),
  ...(former === undefined ? {} : { formerIdentity: former.repeat(64) }),
  notAfter: new Date(0),
});

function withCertificates(certificates: Readonly<Record<string, IssuedCertificate>>): RenderContext {
  return {
    ...context(),
    certificates: new Map(Object.entries({ 'keys-key-service': identityOf('1'), ...certificates })),
  };
}

const service = (of: KMSConfig, users: readonly Tenant[] = [], by: RenderContext = context()) =>
  renderKeyService(of, users, by);
const restarts = (before: KMSConfig, after: KMSConfig) => {
  const [old, now] = [service(before), service(after)];
  return describeRestarts(restartReasons(old.inputs, now.inputs, old.owner));
};

describe('a new tenant', () => {
  const users = [user('a', 'a-'), user('b', 'b-')];
  const certificates = withCertificates({
    'a-key-service-client': identityOf('2'),
    'b-key-service-client': identityOf('3'),
  });
  it('restarts no key service: policies and keys are re-read', () => {
    const before = service(kms(), users.slice(0, 1), certificates);
    const after = service(kms(), users, certificates);
    expect(restartReasons(before.inputs, after.inputs, before.owner)).toEqual([]);
    const files = after.mounts.flatMap((mount) => (mount.kind === 'files' ? mount.files : []));
    expect(files.find(({ path }) => path === 'keysvc.yaml')?.reloads).toBe(true);
  });
  it('keeps nobody else waiting while its certificate is not made', () => {
    const text = JSON.stringify(service(kms(), users, withCertificates({ 'a-key-service-client': identityOf('2') })));
    expect(text).toContain('tenant-a');
    expect(text).not.toContain('tenant-b');
  });
  it('is admitted by the network policy, and nobody else is but whom the KMSConfig names', () => {
    const also: Json = { podSelector: { matchLabels: { app: 'backup' } } };
    const { networkPolicy } = service(kms({ networkPolicy: { alsoFrom: [also] } }), users, certificates).kubernetes;
    expect(networkPolicy?.admits).toEqual({ api: ['a-server', 'b-server'] });
    expect(networkPolicy?.alsoFrom).toEqual([also]);
  });
  it('changes nothing by its place in a list', () => {
    expect(service(kms(), users.toReversed(), certificates)).toEqual(service(kms(), users, certificates));
  });
});

describe('a tenant with a new key', () => {
  it('is known by the old one too', () => {
    const certificates = withCertificates({ 'a-key-service-client': identityOf('2', '4') });
    const text = JSON.stringify(service(kms(), [user('a', '')], certificates));
    expect(text).toContain(JSON.stringify(['2'.repeat(64), '4'.repeat(64)]));
  });
  it('waits for its certificate', () => {
    const of = tenant({ kmsConfigRef: { name: 'keys' } });
    expect(issue(() => server(of, [], {}, kms(), withCertificates({})))).toContain('CertificateMissing');
  });
});

describe('a change of the KMSConfig', () => {
  const restarting: Readonly<Record<string, Spec>> = {
    ...Object.fromEntries(Object.entries(podSpec).map(([field, value]) => [field, { [field]: value }])),
    image: { image: 'coffer:2' },
    address: { address: { port: 7374 } },
    keystore: { keystore: { files: { path: '/srv/keys' } } },
    cache: { cache: { any: '1m' } },
    monitoring: { monitoring: { serviceMonitor: {} } },
  };
  const restartless: Readonly<Record<string, Spec>> = {
    replicas: { replicas: 3 },
    defaultKey: { defaultKey: 'second' },
    keys: { keys: [{ name: 'more' }] },
    policies: { policies: [{ name: 'auditors', allow: ['/v1/log/audit'], identities: [] }] },
    certificates: { certificates: { life: '30d' } },
    enclave: { enclave: 'team' },
    networkPolicy: { networkPolicy: { enabled: false } },
    reclaimPolicy: { reclaimPolicy: 'Delete' },
    'keystore.files.size': { keystore: { files: { size: '2Gi' } } },
  };
  it.each(Object.entries(restarting))('of spec.%s restarts the key service', (field, change) => {
    const reason = podFieldNames.has(field)
      ? 'PodTemplateChanged'
      : field === 'image'
        ? 'ImageChanged'
        : 'KMSConfigChanged';
    expect(restarts(kms(), kms(change))).toBe(`${reason}: spec.${field} of KMSConfig keys`);
  });
  it.each(Object.entries(restartless))('of spec.%s restarts nothing', (_, change) => {
    expect(restarts(kms(), kms(change))).toBe('');
  });
  it('has a case for each field of the schema', () => {
    const tried = new Set([...Object.keys(restarting), ...Object.keys(restartless)]);
    expect(Object.keys(kmsConfigSpec.shape).filter((field) => !tried.has(field))).toEqual([]);
  });
  it('of its enclave restarts the servers that name it', () => {
    const of = tenant({ kmsConfigRef: { name: 'keys' } });
    const [before, after] = [server(of, [], {}, kms()), server(of, [], {}, kms({ enclave: 'team' }))];
    expect(describeRestarts(restartReasons(before.inputs, after.inputs, before.owner))).toBe(
      'KMSConfigChanged: spec.enclave of KMSConfig keys',
    );
    const sent = (workload: typeof before) => workload.environment.some(({ name }) => name.endsWith('_ENCLAVE'));
    expect([sent(before), sent(after)]).toEqual([false, true]);
  });
});

const affinityOf = (spec: Spec) => JSON.stringify(service(kms(spec)).kubernetes.pod.affinity ?? null);
const argumentsOf = (replicas: number) => JSON.stringify(service(kms({ replicas })).arguments);

describe('the pods of a key service', () => {
  it('have a token of their service account where the vault knows them by it, and only there', () => {
    const vault = { endpoint: 'https://vault.example.com:8200', kubernetes: { role: 'coffer' } };
    expect(service(kms({ keystore: { vault } })).kubernetes.pod.serviceAccountToken).toBe(true);
    expect(service(kms()).kubernetes.pod).not.toHaveProperty('serviceAccountToken');
  });

  it('run on one node where its volume can be on one only, however many they are', () => {
    const one = affinityOf({});
    expect(one).toContain('"coffer.dev/workload":"keys-key-service"');
    expect(affinityOf({ replicas: 3 })).toBe(one);
  });
  it('keep an affinity of their own besides', () => {
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone' }] } };
    expect(affinityOf({ affinity })).toMatch(/"topologyKey":"zone".*"topologyKey":"kubernetes.io\/hostname"/);
  });
  it('run anywhere over a volume that many nodes can mount, or none', () => {
    expect(affinityOf({ keystore: { files: { accessMode: 'ReadWriteMany' } } })).toBe('null');
  });
  it('accept requests while clients leave them, where there is another to go to', () => {
    expect(argumentsOf(3)).toMatch(/shutdown-delay.*5s/);
    expect(argumentsOf(1)).not.toContain('shutdown-delay');
  });
});

const policy = (lines: Spec) =>
  kms({ policies: [{ name: 'auditors', allow: ['/v1/status'], identities: [], ...lines }] });

describe('a pattern of spec.policies that matches no call that a policy decides', () => {
  it.each([
    ['misspelt', '/v1/key/delet/*'],
    ['of a call that every caller may make', '/version'],
    ['of a call that every certificate may make', '/v1/identity/self/describe'],
  ])('is refused under deny, where it guards nothing: %s', (_title, pattern) => {
    expect(issue(() => service(policy({ deny: [pattern] })))).toBe(
      `InvalidSettings: the policy auditors in spec.policies of KMSConfig keys has "${pattern}" under deny, which guards nothing: no call that a policy decides matches it`,
    );
  });
  it.each(['/v1/key/creat/*', '/version', '/v1/identity/self/describe', '/v1/key/[a'])(
    'stands under allow, where it opens nothing: %s',
    (pattern) => {
      expect(issue(() => service(policy({ allow: ['/v1/status', pattern] })))).toBe('none');
    },
  );
  it('is none where a call may match', () => {
    expect(issue(() => service(policy({ allow: ['/v1/key/*'], deny: ['/v1/key/delete/first'] })))).toBe('none');
  });
});
