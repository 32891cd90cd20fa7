import { describe, expect, it } from 'vitest';
import type { Tenant } from '../api/object.ts';
import { mergeConditions, ready } from './conditions.ts';
import { providerConditions, workloadConditions, type Observation } from './workload-conditions.ts';
import type { KnownProvider } from './identity-provider/provider-checks.ts';
import type { RolloutStep } from './rollout.ts';
import { tenantConditions, type TenantContext } from './tenant/tenant-conditions.ts';
import { runningWorkload } from '../../test/support/operator/workload-fixture.ts';

const early = new Date('2026-01-01T00:00:00Z');
const late = new Date('2026-01-02T00:00:00Z');
const seen = (more: Partial<Observation> = {}): Observation => ({
  running: runningWorkload(['ready 1']),
  step: { kind: 'refresh' },
  issue: undefined,
  invalid: undefined,
  hibernated: false,
  ...more,
});
const crashed = (restarts: number) => {
  const running = runningWorkload(['broken 1']);
  const state = { kind: 'broken', restarts, message: 'exit code 1' } as const;
  return { ...running, instances: running.instances.map((instance) => ({ ...instance, state })) };
};
const known = (current: boolean): ReadonlyMap<string, KnownProvider> => {
  const state = { kind: 'broken', reason: 'NotFound', message: '404' } as const;
  return new Map([['a', { provider: undefined as never, digest: '', current, state }]]);
};
const text = (conditions: readonly { type: string; status: string; reason: string }[]) =>
  conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);

describe('conditions', () => {
  it('keep the time of their last change of status', () => {
    const first = mergeConditions([], [ready('a')], 1, early);
    const [second] = mergeConditions(first, [ready('b')], 2, late);
    expect(second).toMatchObject({ message: 'b', observedGeneration: 2, lastTransitionTime: early.toISOString() });
  });
  it('take the time of a change of status', () => {
    const first = mergeConditions([], [ready('a')], 1, early);
    const [second] = mergeConditions(first, [{ ...ready('a'), status: 'False' }], 1, late);
    expect(second?.lastTransitionTime).toBe(late.toISOString());
  });
  it('leave out what was not found, as kstatus wants it of Reconciling and Stalled', () => {
    const starting = mergeConditions(
      [],
      workloadConditions(seen({ running: runningWorkload(['starting 1']) })),
      1,
      early,
    );
    expect(starting.map(({ type }) => type)).toEqual(['Ready', 'Reconciling']);
    expect(mergeConditions(starting, workloadConditions(seen()), 1, late).map(({ type }) => type)).toEqual(['Ready']);
  });
});

describe('what is found of a workload', () => {
  it('is Stalled where the manifest is refused, whatever runs', () => {
    expect(text(workloadConditions(seen({ invalid: 'tenant.yaml:3: …' })))).toEqual([
      'Ready=False InvalidSpec',
      'Stalled=True InvalidSpec',
    ]);
  });
  it('is Stalled while it crashes again and again, with its last words', () => {
    const conditions = workloadConditions(seen({ running: runningWorkload(['broken 1']) }));
    expect(text(conditions)).toEqual(['Ready=False CrashLoop', 'Stalled=True CrashLoop']);
    expect(conditions[0]?.message).toContain('no data folder');
  });
  it('names what the machine cannot give', () => {
    const rejected = { reason: 'PortInUse', message: 'port 9000 is in use' } as const;
    expect(text(workloadConditions(seen({ running: { ...runningWorkload([]), rejected } })))).toContain(
      'Ready=False PortInUse',
    );
  });
  it('has the same message however often it crashed, so that the status settles', () => {
    const [few, many] = [3, 40].map((restarts) => workloadConditions(seen({ running: crashed(restarts) })));
    expect(few).toEqual(many);
  });
  it('tells one that cannot start from one that ends again and again', () => {
    const running = runningWorkload(['ready 1']);
    const state = { kind: 'broken', restarts: 0, message: 'the image cannot be pulled' } as const;
    const instances = running.instances.map((instance) => ({ ...instance, state }));
    expect(text(workloadConditions(seen({ running: { ...running, instances } })))).toEqual([
      'Ready=False CannotStart',
      'Stalled=True CannotStart',
    ]);
  });
  it('is Reconciling, and not Stalled, while a certificate is being made', () => {
    const issue = { reason: 'CertificateMissing', message: 'not made yet' };
    expect(text(workloadConditions(seen({ issue })))).toEqual([
      'Ready=False CertificateMissing',
      'Reconciling=True CertificateMissing',
    ]);
  });
  it.each([
    ['one of several starts', ['ready 1', 'starting 1'], ['Ready=Unknown Starting', 'Reconciling=True Starting']],
    ['one of several is not ready', ['ready 1', 'not-ready 1'], ['Ready=False NotReady', 'Reconciling=True NotReady']],
    ['none is ready', ['starting 1', 'starting 1'], ['Ready=False Starting', 'Reconciling=True Starting']],
    ['one of several is broken', ['ready 1', 'broken 1'], ['Ready=False CrashLoop', 'Stalled=True CrashLoop']],
    ['all are ready', ['ready 1', 'ready 1'], ['Ready=True Ready']],
  ])('when %s', (_, instances, expected) => {
    expect(text(workloadConditions(seen({ running: runningWorkload(instances) })))).toEqual(expected);
  });
  it.each([
    ['not-ready', 'database', 'Ready=False DatabaseUnreachable', 'storage.records'],
    ['starting', 'bodies', 'Ready=False BodiesUnreachable', 'storage.blobs'],
    ['starting', 'key-service', 'Ready=False KeyServiceUnreachable', 'kmsConfigRef'],
    ['starting', 'default-key', 'Ready=False DefaultKeyMissing', 'kmsConfigRef'],
  ] as const)('names what a server that is %s says it waits for: %s', (kind, waitsFor, expected, field) => {
    const running = runningWorkload([`${kind} 1`]);
    const state = { kind, message: 'answered 503', waitsFor } as const;
    const instances = running.instances.map((instance) => ({ ...instance, state }));
    const conditions = workloadConditions(seen({ running: { ...running, instances } }));
    expect(text(conditions)[0]).toBe(expected);
    expect(text(conditions)[1]).toMatch(/^Reconciling=True /);
    expect(conditions[0]?.message).toContain(field);
  });
  it('is Reconciling with the reason of the restart, and not Ready=True, while it rolls', () => {
    const restarts = [{ reason: 'ImageChanged', field: 'spec.image of Tenant demo' }] as const;
    const step: RolloutStep = {
      kind: 'wait',
      restarts,
      blocker: { reason: 'PodNotReady', message: 'waits until demo-server-1 is ready' },
      progressing: true,
    };
    const running = runningWorkload(['ready 1', 'starting 2'], '2');
    expect(text(workloadConditions(seen({ step, running })))).toEqual([
      'Ready=Unknown ImageChanged',
      'Reconciling=True ImageChanged',
    ]);
  });
  it('is told as blocked, with what waits for it', () => {
    const restarts = [{ reason: 'ImageChanged', field: 'spec.image of Tenant demo' }] as const;
    const blocker = { reason: 'RolloutInProgress', message: 'waits until fewer others are rolling' } as const;
    const conditions = workloadConditions(seen({ step: { kind: 'wait', restarts, blocker, progressing: false } }));
    expect(text(conditions)).toEqual([
      'Ready=Unknown RolloutInProgress',
      'Reconciling=True RolloutInProgress',
      'RolloutBlocked=True RolloutInProgress',
    ]);
    expect(conditions[2]?.message).toBe(
      'waits until fewer others are rolling (ImageChanged: spec.image of Tenant demo)',
    );
  });
  it('is Ready for what was asked while it is hibernated, and on its way there until all have stopped', () => {
    expect(text(workloadConditions(seen({ hibernated: true, running: runningWorkload([]) })))).toEqual([
      'Ready=True Hibernated',
    ]);
    expect(text(workloadConditions(seen({ hibernated: true, running: runningWorkload(['stopping 1']) })))).toEqual([
      'Ready=False Hibernating',
      'Reconciling=True Hibernating',
    ]);
  });
});

describe('what is found of a provider', () => {
  it('is Unknown while it is checked', () => {
    expect(text(providerConditions({ kind: 'pending' }, undefined))).toEqual([
      'Ready=Unknown CheckPending',
      'Reconciling=True CheckPending',
    ]);
  });
  it('carries the reason of the check', () => {
    expect(text(providerConditions({ kind: 'broken', reason: 'IssuerMismatch', message: 'm' }, undefined))).toEqual([
      'Ready=False IssuerMismatch',
      'Stalled=True IssuerMismatch',
    ]);
  });
});

const around = (more: Partial<TenantContext> = {}): TenantContext => ({
  providers: new Map(),
  invalidProviders: new Map(),
  isAccepted: () => false,
  waitingFor: undefined,
  keyService: undefined,
  tls: undefined,
  ...more,
});

describe('what is found of a tenant', () => {
  const tenant = { spec: { identityProviders: [{ name: 'a' }], paused: false } } as unknown as Tenant;
  const broken = known(false);

  it('is not Ready while a provider is broken, though the server serves', () => {
    expect(text(tenantConditions(tenant, seen(), around({ providers: broken })))).toEqual([
      'Ready=False NotFound',
      'Stalled=True NotFound',
      'IdentityReady=False NotFound',
      'RolloutBlocked=True ProviderInvalid',
    ]);
  });
  it('holds nothing up while a provider that servers already have does not answer', () => {
    expect(text(tenantConditions(tenant, seen(), around({ providers: known(true), isAccepted: () => true })))).toEqual([
      'Ready=False NotFound',
      'Stalled=True NotFound',
      'IdentityReady=False NotFound',
    ]);
  });
  it('is not Ready with a certificate that expired', () => {
    const tls = { type: 'TLSReady', status: 'False', reason: 'CertificateExpired', message: 'm' } as const;
    const plain = { spec: { paused: false } } as unknown as Tenant;
    expect(text(tenantConditions(plain, seen(), around({ tls })))).toEqual([
      'Ready=False CertificateExpired',
      'Stalled=True CertificateExpired',
      'TLSReady=False CertificateExpired',
    ]);
  });
  it('says that the server runs without a provider that never passed', () => {
    const [first] = tenantConditions(tenant, seen(), around({ providers: broken }));
    expect(first?.message).toBe('IdentityProvider a: 404 (the server runs without it)');
  });
  it('says that the server keeps the version that passed before', () => {
    const [first] = tenantConditions(tenant, seen(), around({ providers: broken, isAccepted: () => true }));
    expect(first?.message).toContain('the server keeps the version that passed its check before');
  });
  it('names a provider that does not exist', () => {
    expect(text(tenantConditions(tenant, seen(), around()))).toContain('IdentityReady=False IdentityProviderNotFound');
  });
});
