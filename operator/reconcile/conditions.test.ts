import { describe, expect, it } from 'vitest';
import type { Tenant } from '../api/object.ts';
import type { RunningWorkload } from '../runtime.ts';
import { mergeConditions, ready } from './conditions.ts';
import {
  providerFindings,
  tenantFindings,
  workloadFindings,
  type Observation,
  type TenantSurroundings,
} from './findings.ts';

const early = new Date('2026-01-01T00:00:00Z');
const late = new Date('2026-01-02T00:00:00Z');
const runs = (kind: 'ready' | 'starting'): RunningWorkload => ({
  name: 'w',
  inputs: [],
  state: { kind },
  addresses: {},
});
const seen = (more: Partial<Observation> = {}): Observation => ({
  running: runs('ready'),
  step: undefined,
  problem: undefined,
  invalid: undefined,
  ...more,
});
const text = (findings: readonly { type: string; status: string; reason: string }[]) =>
  findings.map(({ type, status, reason }) => `${type}=${status} ${reason}`);

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
    const starting = mergeConditions([], workloadFindings(seen({ running: runs('starting') })), 1, early);
    expect(starting.map(({ type }) => type)).toEqual(['Ready', 'Reconciling']);
    expect(mergeConditions(starting, workloadFindings(seen()), 1, late).map(({ type }) => type)).toEqual(['Ready']);
  });
});

describe('what is found of a workload', () => {
  it('is Stalled where the manifest is refused, whatever runs', () => {
    expect(text(workloadFindings(seen({ invalid: 'tenant.yaml:3: …' })))).toEqual([
      'Ready=False InvalidSpec',
      'Stalled=True InvalidSpec',
    ]);
  });
  it('is Stalled while it crashes again and again, with its last words', () => {
    const state = { kind: 'crash-loop', restarts: 4, message: 'exit code 1; no data folder' } as const;
    const findings = workloadFindings(seen({ running: { ...runs('ready'), state } }));
    expect(text(findings)).toEqual(['Ready=False CrashLoop', 'Stalled=True CrashLoop']);
    expect(findings[0]?.message).toContain('no data folder');
  });
  it('names what the machine cannot give', () => {
    const refused = { reason: 'PortInUse', message: 'port 9000 is in use' } as const;
    expect(text(workloadFindings(seen({ running: { ...runs('ready'), refused } })))).toContain('Ready=False PortInUse');
  });
});

describe('what is found of a provider', () => {
  it('is Unknown while it is checked', () => {
    expect(text(providerFindings({ kind: 'pending' }, undefined))).toEqual([
      'Ready=Unknown CheckPending',
      'Reconciling=True CheckPending',
    ]);
  });
  it('carries the reason of the check', () => {
    expect(text(providerFindings({ kind: 'broken', reason: 'IssuerMismatch', message: 'm' }, undefined))).toEqual([
      'Ready=False IssuerMismatch',
      'Stalled=True IssuerMismatch',
    ]);
  });
});

const around = (more: Partial<TenantSurroundings> = {}): TenantSurroundings => ({
  providers: new Map(),
  invalidProviders: new Map(),
  isAccepted: () => false,
  waitingFor: undefined,
  keyService: undefined,
  ...more,
});

describe('what is found of a tenant', () => {
  const tenant = { spec: { identityProviders: [{ name: 'a' }], paused: false } } as unknown as Tenant;
  const broken = new Map([
    [
      'a',
      { provider: undefined as never, current: false, state: { kind: 'broken', reason: 'NotFound', message: '404' } },
    ],
  ] as const);

  it('is not Ready while a provider is broken, though the server serves', () => {
    expect(text(tenantFindings(tenant, seen(), around({ providers: broken })))).toEqual([
      'Ready=False NotFound',
      'Stalled=True NotFound',
      'IdentityReady=False NotFound',
    ]);
  });
  it('says that the server runs without a provider that never passed', () => {
    const [first] = tenantFindings(tenant, seen(), around({ providers: broken }));
    expect(first?.message).toBe('IdentityProvider a: 404 (the server runs without it)');
  });
  it('says that the server keeps the version that passed before', () => {
    const [first] = tenantFindings(tenant, seen(), around({ providers: broken, isAccepted: () => true }));
    expect(first?.message).toContain('the server keeps the version that passed its check before');
  });
  it('names a provider that does not exist', () => {
    expect(text(tenantFindings(tenant, seen(), around()))).toContain('IdentityReady=False IdentityProviderNotFound');
  });
});
