import { afterEach, describe, expect, it, vi } from 'vitest';
import { KubeError, type KubeObject } from './kube-api.ts';
import { LeaderElection, type LeaderElectionOptions } from './leader-election.ts';
import { microTime } from './lease-record.ts';

/** The Lease of a test, with the API server's check of versions. */
class LeaseDouble {
  lease: KubeObject | undefined;
  away = false;
  writes = 0;

  async get(): Promise<KubeObject | undefined> {
    this.#check();
    return this.lease;
  }

  async create(object: KubeObject): Promise<KubeObject> {
    this.#check();
    if (this.lease !== undefined) throw new KubeError(409, 'AlreadyExists', 'exists');
    return this.#store(object);
  }

  async replace(object: KubeObject): Promise<KubeObject> {
    this.#check();
    if (this.lease === undefined) throw new KubeError(404, 'NotFound', 'not found');
    if (object.metadata.resourceVersion !== this.lease.metadata.resourceVersion) {
      throw new KubeError(409, 'Conflict', 'changed');
    }
    return this.#store(object);
  }

  get spec(): Readonly<Record<string, unknown>> {
    return (this.lease?.['spec'] ?? {}) as Readonly<Record<string, unknown>>;
  }

  #store(object: KubeObject): KubeObject {
    this.writes += 1;
    this.lease = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.writes) } };
    return this.lease;
  }

  #check(): void {
    if (this.away) throw new KubeError(undefined, 'Unreachable', 'away');
  }
}

const elections: LeaderElection[] = [];
afterEach(async () => {
  await Promise.all(elections.splice(0).map((election) => election.release()));
});

function candidate(api: LeaseDouble, identity: string, more: Partial<LeaderElectionOptions> = {}) {
  const messages: string[] = [];
  const election = new LeaderElection({
    api,
    namespace: 'coffer-system',
    name: 'coffer-operator',
    identity,
    onStoppedLeading: (message) => messages.push(message),
    failed: () => undefined,
    timing: { leaseDurationMs: 1_000, renewDeadlineMs: 300, retryMs: 20 },
    now: () => new Date(),
    random: () => 0,
    ...more,
  });
  elections.push(election);
  return { election, messages };
}

describe('LeaderElection', () => {
  it('makes the Lease and keeps it renewed', async () => {
    const api = new LeaseDouble();
    const { election } = candidate(api, 'one');
    expect(await election.acquire()).toBe(true);
    expect(api.spec).toMatchObject({ holderIdentity: 'one', leaseDurationSeconds: 1, leaseTransitions: 0 });
    expect(api.spec['renewTime']).toMatch(/\.\d{6}Z$/);
    await vi.waitFor(() => expect(api.writes).toBeGreaterThan(3));
    expect(election.leads).toBe(true);
  });

  it('waits while another renews, and takes over at once when that one releases', async () => {
    const api = new LeaseDouble();
    const { election: first } = candidate(api, 'one');
    const { election: second } = candidate(api, 'two');
    await first.acquire();
    const acquired = second.acquire();
    await vi.waitFor(() => expect(api.writes).toBeGreaterThan(3));
    expect(second.leads).toBe(false);
    await first.release();
    expect(await acquired).toBe(true);
    expect(api.spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 });
  });

  it('takes over from one that renews no more, after the duration that it saw pass itself', async () => {
    const api = new LeaseDouble();
    const spec = { holderIdentity: 'dead', leaseDurationSeconds: 1, renewTime: '2999-01-01T00:00:00.000000Z' };
    await api.create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'x' }, spec });
    let clock = 0;
    const { election } = candidate(api, 'two', { monotonic: () => (clock += 100) });
    expect(await election.acquire()).toBe(true);
    expect(clock).toBeGreaterThan(1_000);
  });

  it('is lost when it cannot be renewed in time', async () => {
    const api = new LeaseDouble();
    const { election, messages } = candidate(api, 'one');
    await election.acquire();
    api.away = true;
    await vi.waitFor(() => expect(messages).toHaveLength(1));
    expect(election.leads).toBe(false);
  });

  it('survives a server that is away for less than the deadline', async () => {
    const api = new LeaseDouble();
    const failures: unknown[] = [];
    const timing = { leaseDurationMs: 100_000, renewDeadlineMs: 50_000, retryMs: 10 };
    const { election, messages } = candidate(api, 'one', { failed: (error) => failures.push(error), timing });
    await election.acquire();
    api.away = true;
    await vi.waitFor(() => expect(failures.length).toBeGreaterThan(1));
    api.away = false;
    const writes = api.writes;
    await vi.waitFor(() => expect(api.writes).toBeGreaterThan(writes));
    expect(messages).toEqual([]);
  });

  it('is lost when another process took the Lease', async () => {
    const api = new LeaseDouble();
    const { election, messages } = candidate(api, 'one');
    await election.acquire();
    await api.replace({
      ...(api.lease as KubeObject),
      spec: { ...api.spec, holderIdentity: 'two', renewTime: microTime(new Date()) },
    });
    await vi.waitFor(() => expect(messages).toEqual(['two leads now']));
    expect(api.spec['holderIdentity']).toBe('two');
  });

  it('goes on when only labels of the Lease were changed', async () => {
    const api = new LeaseDouble();
    const { election, messages } = candidate(api, 'one');
    await election.acquire();
    const lease = api.lease as KubeObject;
    await api.replace({ ...lease, metadata: { ...lease.metadata, labels: { x: 'y' } } });
    const writes = api.writes;
    await vi.waitFor(() => expect(api.writes).toBeGreaterThan(writes + 1));
    expect(messages).toEqual([]);
  });

  it('makes a Lease again that was deleted', async () => {
    const api = new LeaseDouble();
    const { election, messages } = candidate(api, 'one');
    await election.acquire();
    api.lease = undefined;
    await vi.waitFor(() => expect(api.spec['holderIdentity']).toBe('one'));
    expect(messages).toEqual([]);
    expect(election.leads).toBe(true);
  });

  it('tells the leader of a candidate, and the candidate of the leader, until it is gone', async () => {
    const api = new LeaseDouble();
    const rivals: (string | undefined)[] = [];
    const holders: string[] = [];
    const { election: first, messages } = candidate(api, 'one', { rival: (identity) => rivals.push(identity) });
    await first.acquire();
    const options = { rival: () => undefined, waiting: (holder: string) => holders.push(holder) };
    const { election: second } = candidate(api, 'two', options);
    const acquired = second.acquire();
    await vi.waitFor(() => expect(rivals.at(-1)).toBe('two'));
    expect(holders).toContain('one');
    await second.release();
    expect(await acquired).toBe(false);
    await vi.waitFor(() => expect(rivals.at(-1)).toBeUndefined(), { timeout: 5_000 });
    expect(api.lease?.metadata.annotations).toEqual({});
    expect(messages).toEqual([]);
  });

  it('is given back, though a candidate wrote its name since the last renewal', async () => {
    const api = new LeaseDouble();
    const timing = { leaseDurationMs: 100_000, renewDeadlineMs: 50_000, retryMs: 10_000 };
    const { election } = candidate(api, 'one', { timing });
    await election.acquire();
    const lease = api.lease as KubeObject;
    await api.replace({ ...lease, metadata: { ...lease.metadata, annotations: { candidate: 'two' } } });
    await election.release();
    expect(api.spec['holderIdentity']).toBe('');
  });

  it('is no rival of itself once it leads', async () => {
    const api = new LeaseDouble();
    const rivals: (string | undefined)[] = [];
    const { election: first } = candidate(api, 'one', { rival: () => undefined });
    await first.acquire();
    const { election: second } = candidate(api, 'two', { rival: (identity) => rivals.push(identity) });
    const acquired = second.acquire();
    await vi.waitFor(() => expect(api.lease?.metadata.annotations).toBeDefined());
    await first.release();
    expect(await acquired).toBe(true);
    expect(rivals).toEqual([undefined]);
  });

  it('ends its candidacy by release', async () => {
    const api = new LeaseDouble();
    const { election: first } = candidate(api, 'one');
    const { election: second } = candidate(api, 'two');
    await first.acquire();
    const acquired = second.acquire();
    await second.release();
    expect(await acquired).toBe(false);
  });

  it('refuses durations with which two could lead', () => {
    const timing = { leaseDurationMs: 10, renewDeadlineMs: 10, retryMs: 1 };
    expect(() => candidate(new LeaseDouble(), 'one', { timing })).toThrow(RangeError);
  });
});
