import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CofferObject, Secret } from '../api/object.ts';
import { manifestOf, type Spec } from '../api/rule-cases.ts';
import { validate } from '../api/validate.ts';
import type { Runtime, RunningWorkload } from '../runtime.ts';
import type { CertificateNeed, Workload } from '../workload.ts';
import { AcceptedProviders } from './accepted-providers.ts';
import type { ProviderCheck } from './check-provider.ts';
import type { ResourceStatus } from './conditions.ts';
import type { OperatorEvent } from './events.ts';
import { Reconciler } from './reconciler.ts';
import type { Resources } from './resources.ts';

/** Runs nothing, and remembers what it was told. */
class RecordingRuntime implements Runtime {
  readonly running = new Map<string, RunningWorkload>();
  readonly applied: string[] = [];
  #listener: () => void = () => undefined;

  ensureCertificates(needs: readonly CertificateNeed[]) {
    return Promise.resolve(new Map(needs.map(({ name }) => [name, { identity: name, notAfter: new Date(0) }])));
  }
  observe() {
    return Promise.resolve([...this.running.values()]);
  }
  apply(workload: Workload) {
    const before = this.running.get(workload.name);
    if (JSON.stringify(before?.inputs) !== JSON.stringify(workload.inputs)) {
      this.applied.push(workload.name);
      this.running.set(workload.name, {
        name: workload.name,
        inputs: workload.inputs,
        state: { kind: 'starting' },
        addresses: {},
      });
    }
    return Promise.resolve();
  }
  remove(name: string) {
    this.applied.push(`remove ${name}`);
    this.running.delete(name);
    return Promise.resolve();
  }
  onChange(listener: () => void) {
    this.#listener = listener;
  }
  become(name: string, kind: 'ready' | 'starting') {
    const workload = this.running.get(name);
    if (workload !== undefined) this.running.set(name, { ...workload, state: { kind } });
    this.#listener();
  }
}

let runtime: RecordingRuntime;
let objects: CofferObject[];
let secrets: Secret[];
let verdict: (configUrl: string) => ProviderCheck | Promise<ProviderCheck>;
let events: OperatorEvent[];
let statuses: Map<string, ResourceStatus>;
let saved: string | undefined;

const good: ProviderCheck = { kind: 'good', issuer: 'https://id', warnings: [] };
const broken: ProviderCheck = { kind: 'broken', reason: 'NotFound', message: 'answered 404' };

function made(kind: CofferObject['kind'], name: string, spec: Spec): CofferObject {
  const result = validate(manifestOf(kind, name, spec));
  if (result.kind !== 'object') throw new Error(JSON.stringify(result));
  return result.object;
}
const tenant = (spec: Spec = {}) => made('Tenant', 'demo', spec);
const provider = (name: string, realm = 'good', spec: Spec = {}) =>
  made('IdentityProvider', name, {
    configUrl: `https://id/realms/${realm}/.well-known/openid-configuration`,
    clientId: 'coffer',
    clientSecretRef: { name: 'client', key: 'secret' },
    ...spec,
  });
const kms = made('KMSConfig', 'keys', { keystore: { files: {} }, defaultKey: 'first' });

beforeEach(() => {
  runtime = new RecordingRuntime();
  objects = [];
  secrets = [{ name: 'client', data: { secret: 'one' } }];
  verdict = (url) => (url.includes('/good/') ? good : broken);
  events = [];
  statuses = new Map();
  saved = undefined;
});

const of = <Kind extends CofferObject['kind']>(kind: Kind) =>
  new Map(
    objects.flatMap((object) =>
      object.kind === kind ? [[object.metadata.name, object as Extract<CofferObject, { kind: Kind }>] as const] : [],
    ),
  );

function resources(): Resources {
  return {
    tenants: of('Tenant'),
    identityProviders: of('IdentityProvider'),
    kmsConfigs: of('KMSConfig'),
    secrets: new Map(secrets.map((secret) => [secret.name, secret])),
    invalid: new Map(),
  };
}

function reconciler(): Reconciler {
  return new Reconciler({
    resources,
    runtime,
    accepted: new AcceptedProviders(saved, (text) => {
      saved = text;
      return Promise.resolve();
    }),
    rootCredentials: () => Promise.resolve({ name: 'root', data: { rootUser: 'u', rootPassword: 'p' } }),
    check: async ({ spec }) => verdict(spec.configUrl),
    fingerprint: (value) => value,
    status: {
      get: ({ kind, name }) => statuses.get(`${kind}/${name}`),
      generation: () => 1,
      put: ({ kind, name }, status) => {
        statuses.set(`${kind}/${name}`, status);
        return Promise.resolve();
      },
    },
    event: (event) => events.push(event),
    failed: (error) => {
      throw error;
    },
    now: () => new Date(0),
    random: () => 0.5,
    version: 'test',
  });
}

/** Lets passes and checks finish. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await Promise.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  for (let turn = 0; turn < 200; turn++) await Promise.resolve();
}

async function started(...given: CofferObject[]): Promise<Reconciler> {
  objects = given;
  const made = reconciler();
  made.request();
  await settle();
  for (const name of runtime.running.keys()) runtime.become(name, 'ready');
  await settle();
  for (const name of runtime.running.keys()) runtime.become(name, 'ready');
  await settle();
  runtime.applied.length = 0;
  events.length = 0;
  return made;
}

async function change(operator: Reconciler, ...given: CofferObject[]): Promise<void> {
  objects = given;
  operator.request();
  await settle();
}

const conditions = (key: string) =>
  statuses.get(key)?.conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
const restarts = () =>
  events.filter(({ message }) => message.startsWith('restarts')).map(({ reason, message }) => `${reason} ${message}`);
const withProvider = { identityProviders: [{ name: 'a' }] };

describe('a first pass', () => {
  it('starts the key service, and the server once that is ready', async () => {
    objects = [tenant({ kmsConfigRef: { name: 'keys' } }), kms];
    const operator = reconciler();
    operator.request();
    await settle();
    expect(runtime.applied).toEqual(['keys-key-service']);
    expect(conditions('Tenant/demo')).toContain('Reconciling=True KeyServiceUnavailable');
    runtime.become('keys-key-service', 'ready');
    await settle();
    expect(runtime.applied).toEqual(['keys-key-service', 'demo-server']);
    await operator.close();
  });

  it('starts the server without a provider that is broken, and says so', async () => {
    const operator = await started(tenant(withProvider), provider('a', 'gone'));
    expect(JSON.stringify(runtime.running.get('demo-server')?.inputs)).not.toContain('IdentityProvider');
    expect(conditions('Tenant/demo')).toEqual([
      'Ready=False NotFound',
      'Stalled=True NotFound',
      'IdentityReady=False NotFound',
    ]);
    expect(conditions('IdentityProvider/a')).toContain('Ready=False NotFound');
    await operator.close();
  });

  it('reports a KMSConfig that does not exist instead of starting without encryption', async () => {
    const operator = await started(tenant({ kmsConfigRef: { name: 'keys' } }));
    expect([...runtime.running.keys()]).toEqual([]);
    expect(conditions('Tenant/demo')).toContain('Ready=False KMSConfigNotFound');
    await operator.close();
  });
});

describe('a changed provider', () => {
  it('that passes its check restarts the server once and names the field', async () => {
    const operator = await started(tenant(withProvider), provider('a'));
    await change(operator, tenant(withProvider), provider('a', 'good', { scopes: ['openid'] }));
    expect(runtime.applied).toEqual(['demo-server']);
    expect(restarts()).toEqual(['IdentityProviderChanged restarts for spec.scopes of IdentityProvider a']);
    await operator.close();
  });

  it('whose Secret changed restarts the server once and names Secret and key', async () => {
    const operator = await started(tenant(withProvider), provider('a'));
    secrets = [{ name: 'client', data: { secret: 'two' } }];
    await change(operator, ...objects);
    expect(restarts()).toEqual(['SecretChanged restarts for key secret of Secret client']);
    await operator.close();
  });

  it('that is broken leaves the server alone, also when something else changes', async () => {
    const operator = await started(tenant(withProvider), provider('a'));
    const before = runtime.running.get('demo-server')?.inputs.filter(({ of }) => of.kind === 'IdentityProvider');
    await change(operator, tenant(withProvider), provider('a', 'gone'));
    expect(runtime.applied).toEqual([]);
    await change(operator, tenant({ ...withProvider, image: 'coffer:2' }), provider('a', 'gone'));
    expect(restarts()).toEqual(['ImageChanged restarts for spec.image of Tenant demo']);
    expect(runtime.running.get('demo-server')?.inputs.filter(({ of }) => of.kind === 'IdentityProvider')).toEqual(
      before,
    );
    await operator.close();
  });

  it('is one restart together with another one', async () => {
    const both = { identityProviders: [{ name: 'a' }, { name: 'b' }] };
    const operator = await started(tenant(both), provider('a'), provider('b'));
    const slow = Promise.withResolvers<ProviderCheck>();
    verdict = (url) => (url.includes('/good/slow') ? slow.promise : good);
    await change(
      operator,
      tenant(both),
      provider('a', 'good', { scopes: ['openid'] }),
      provider('b', 'good/slow', { displayName: 'B' }),
    );
    expect(runtime.applied).toEqual([]);
    expect(conditions('Tenant/demo')).toContain('Reconciling=True CheckPending');
    slow.resolve(good);
    await settle();
    expect(runtime.applied).toEqual(['demo-server']);
    expect(restarts()).toHaveLength(3);
    await operator.close();
  });

  it('that heals brings the server back in line', async () => {
    const operator = await started(tenant(withProvider), provider('a', 'gone'));
    await change(operator, tenant(withProvider), provider('a'));
    expect(restarts()).toEqual(['IdentityProviderAdded restarts for IdentityProvider a']);
    await operator.close();
  });

  it('restarts nothing in a tenant that does not use it', async () => {
    const operator = await started(tenant(), provider('a'));
    await change(operator, tenant(), provider('a', 'good', { scopes: ['openid'] }));
    expect(runtime.applied).toEqual([]);
    await operator.close();
  });

  it('restarts nothing in a tenant that is paused', async () => {
    const operator = await started(tenant(withProvider), provider('a'));
    await change(operator, tenant({ ...withProvider, paused: true }), provider('a', 'good', { scopes: ['openid'] }));
    expect(runtime.applied).toEqual([]);
    expect(conditions('Tenant/demo')).toContain('Ready=True Paused');
    await operator.close();
  });
});

describe('an operator that starts again', () => {
  it('runs the version that passed before while its provider cannot be reached', async () => {
    const first = await started(tenant(withProvider), provider('a'));
    await first.close();
    verdict = () => broken;
    runtime = new RecordingRuntime();
    const second = await started(tenant(withProvider), provider('a'));
    expect(JSON.stringify(runtime.running.get('demo-server')?.inputs)).toContain('IdentityProvider');
    expect(conditions('Tenant/demo')).toContain('IdentityReady=False NotFound');
    await second.close();
  });
});

describe('what is deleted', () => {
  it('is stopped', async () => {
    const operator = await started(tenant());
    await change(operator);
    expect(runtime.applied).toEqual(['remove demo-server']);
    await operator.close();
  });
});

describe('a pass with nothing new', () => {
  it('changes nothing and tells nothing', async () => {
    const operator = await started(tenant(withProvider), provider('a'));
    const before = JSON.stringify([...statuses]);
    operator.request();
    await settle();
    expect([runtime.applied, events, JSON.stringify([...statuses])]).toEqual([[], [], before]);
    await operator.close();
  });
});

describe('errors of a pass', () => {
  it('are told, and the pass is tried again', async () => {
    vi.useFakeTimers();
    const operator = reconciler();
    const failed = vi.fn();
    const failing = new Reconciler({ ...optionsOf(), failed });
    failing.request();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(failed.mock.calls.length).toBeGreaterThan(1);
    await failing.close();
    await operator.close();
    vi.useRealTimers();
  });
});

function optionsOf() {
  return {
    resources: () => {
      throw new Error('the disk is gone');
    },
    runtime,
    accepted: new AcceptedProviders(undefined, () => Promise.resolve()),
    rootCredentials: () => Promise.reject(new Error('never asked')),
    check: () => Promise.resolve(good),
    fingerprint: (value: string) => value,
    status: { get: () => undefined, generation: () => 1, put: () => Promise.resolve() },
    event: () => undefined,
    now: () => new Date(0),
    random: () => 0.5,
    version: 'test',
  };
}
