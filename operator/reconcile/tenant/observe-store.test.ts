import { beforeEach, describe, expect, it } from 'vitest';
import { made, Namespace, tenant } from '../../../test/support/operator/reconciler-harness.ts';
import { nextDeployment } from '../../../protocol/expected-deployment.ts';
import type { ReconcilerOptions } from '../reconciler-options.ts';
import { hasRun } from './observe-store.ts';
import { ready } from '../conditions.ts';
import type { ManagedControllers } from '../managed/controller.ts';
import type { CofferObject } from '../../api/object.ts';

const bucket = made('Bucket', 'photos', { tenantRef: { name: 'demo' } });

interface State {
  space: { free: number; total: number };
  store: string;
  applied: number;
  /** The time of the restore. */
  restored?: string;
  promoted: number;
}

/** A tenant with a bucket, whose server tells what `store` holds. */
async function observed(more: Partial<ReconcilerOptions> = {}) {
  const space = new Namespace();
  const state: State = { store: 'first', applied: 0, promoted: 0, space: { free: 5, total: 10 } };
  const controller = {
    reconcile: () => {
      state.applied += 1;
      return Promise.resolve({ conditions: [ready('as it should be')], afterMs: 1_000 });
    },
    remove: () => Promise.resolve({ done: true, conditions: [], afterMs: 0 }),
  };
  const controllers = { Bucket: controller } as unknown as ManagedControllers;
  const reconciler = space.open({
    deploymentOf: async () => ({
      deploymentID: state.store,
      space: state.space,
      ...(state.restored !== undefined && {
        unpromoted: { since: state.restored, reason: 'the store was restored from a snapshot' },
      }),
    }),
    promoteStore: async () => {
      state.promoted += 1;
      delete state.restored;
    },
    controllers,
    ...more,
  });
  const pass = async (...objects: readonly CofferObject[]) => {
    space.objects = objects;
    for (const { kind, metadata } of objects) await reconciler.reconcile({ kind, name: metadata.name });
    await space.settle(reconciler);
  };
  space.objects = [tenant(), bucket];
  await reconciler.start();
  await space.settle(reconciler);
  for (let turn = 0; turn < 3; turn++) await space.allReady(reconciler);
  await pass(tenant(), bucket);
  return { space, state, pass, reconciler };
}

const annotated = (annotations: Readonly<Record<string, string>>) => {
  const written = tenant();
  return { ...written, metadata: { ...written.metadata, annotations } };
};
const accepting = (id: string) => annotated({ 'coffer.dev/accept-store': id });
const promoting = (time: string) => annotated({ 'coffer.dev/promotedAt': time });

const file = ({ space }: { readonly space: Namespace }) => {
  const mount = space.runtime.desired.get('demo-server')?.mounts.find(({ name }) => name === 'deployment');
  const content = mount?.kind === 'files' ? mount.files[0]?.content : undefined;
  return content?.kind === 'text' ? (JSON.parse(content.text) as unknown) : undefined;
};

const onDatabase = (annotations = {}) => {
  const records = { postgres: { urlSecretRef: { name: 'database', key: 'url' } } };
  const { metadata, ...rest } = tenant({ storage: { records } });
  return { ...rest, metadata: { ...metadata, annotations } };
};

const messageIn = (space: Namespace) => space.statuses.get('Tenant/demo')?.conditions[0]?.message ?? '';

const isStalled = (space: Namespace, name: string) =>
  space.conditions(`Tenant/${name}`)?.includes('Stalled=True StoreOfAnother');

describe('the server of a Tenant', () => {
  const first = '11111111-1111-4111-8111-111111111111';
  const second = '22222222-2222-4222-8222-222222222222';
  const known = async () => {
    const found = await observed();
    found.state.store = first;
    found.space.statuses.set('Tenant/demo', { conditions: [], deployment: first } as never);
    return found;
  };
  it('gets the ID of the store that it may have, and that of an accepted one', async () => {
    const found = await known();
    await found.pass(tenant());
    expect(file(found)).toEqual({ expected: first });
    await found.pass(accepting(second));
    expect(file(found)).toEqual({ expected: first, accepted: second });
    await found.pass(accepting('anything'));
    expect(file(found)).toEqual({ expected: first });
  });

  it('gets no accepted ID that is in use already, so that it counts once though it stays in Git', async () => {
    const found = await known();
    await found.pass(accepting(first));
    expect(file(found)).toEqual({ expected: first });
  });

  it('learns which databases are those of Tenants of other namespaces, and may have a copy once it is accepted', async () => {
    const elsewhere = new Map([[second, { at: 'team/demo', created: '', accepted: false, serves: true }]]);
    const found = await observed({ databasesElsewhere: () => elsewhere });
    found.space.secrets = [
      { name: 'database', data: { url: 'postgres://coffer@database/coffer' }, uses: new Set(['database']) },
    ];
    found.state.store = second;
    found.space.statuses.delete('Tenant/demo');
    await found.pass(onDatabase());
    found.space.runtime.become('demo-server', { kind: 'starting', waitsFor: `store:${second}` });
    await found.pass(onDatabase());
    const identity = { name: 'demo', namespace: 'test', uid: 'uid-of-demo' };
    expect(file(found)).toEqual({ others: [second], tenant: identity });
    expect(found.space.conditions('Tenant/demo')).toContain('Stalled=True StoreOfAnother');
    const message = found.space.statuses.get('Tenant/demo')?.conditions[0]?.message;
    expect(message).toContain('Tenant demo of namespace team');
    expect(message).toMatch(new RegExp(`accept-store=${second}$`));
    await found.pass(onDatabase({ 'coffer.dev/accept-store': second }));
    await found.space.allReady(found.reconciler);
    await found.pass(onDatabase({ 'coffer.dev/accept-store': second }));
    expect(file(found)).toEqual({ expected: second, accepted: second, tenant: identity });
    expect(found.space.statuses.get('Tenant/demo')?.deployment).toBe(second);
  });

  describe('on a database', () => {
    const uids = new Map([
      ['demo', 'own-uid'],
      ['other', 'sibling-uid'],
    ]);
    const siblings = new Map<string, { readonly namespace: string; readonly name: string }>();
    beforeEach(() => {
      uids.set('demo', 'own-uid');
      siblings.set('sibling-uid', { namespace: 'test', name: 'other' });
      siblings.set('elsewhere-uid', { namespace: 'team', name: 'demo' });
    });
    const tenantUids = {
      uidOf: (name: string) => uids.get(name),
      find: (uid: string) => siblings.get(uid),
    };
    const begun = async () => {
      const found = await observed({ tenantUids });
      found.space.secrets = [
        { name: 'database', data: { url: 'postgres://coffer@database/coffer' }, uses: new Set(['database']) },
      ];
      found.state.store = second;
      found.space.statuses.delete('Tenant/demo');
      await found.pass(onDatabase());
      return found;
    };
    const identity = { name: 'demo', namespace: 'test', uid: 'own-uid' };

    it('gets the UID of its Tenant, by which the records name it, and may have what the Tenant accepts', async () => {
      const found = await begun();
      expect(file(found)).toEqual({ tenant: identity });
      await found.pass(onDatabase({ 'coffer.dev/accept-store': second }));
      expect(file(found)).toEqual({ tenant: identity, accepted: second });
    });

    it('gets no file that lets any store in where its Tenant has just been deleted', async () => {
      const found = await begun();
      const before = file(found);
      uids.delete('demo');
      await expect(found.pass(onDatabase())).rejects.toThrow(/Tenant demo has no UID/);
      expect(file(found)).toEqual(before);
    });

    it.each([
      ['of this namespace', 'sibling-uid', /that of Tenant other:/, false],
      ['of another namespace', 'elsewhere-uid', /that of Tenant demo of namespace team:/, true],
      [
        'that this operator does not see',
        'foreign-uid',
        /UID own-uid.*UID foreign-uid.*another cluster.*must not run again/,
        true,
      ],
    ])('says that the store belongs to a Tenant %s', async (_which, uid, words, mayAccept) => {
      const found = await begun();
      found.space.runtime.become('demo-server', { kind: 'starting', waitsFor: `store:${second}:${uid}` });
      await found.pass(onDatabase());
      expect(found.space.conditions('Tenant/demo')).toEqual([
        'Ready=False StoreOfAnother',
        'Stalled=True StoreOfAnother',
      ]);
      expect(messageIn(found.space)).toMatch(words);
      const line = `kubectl annotate tenants.coffer.dev demo --overwrite coffer.dev/accept-store=${second}`;
      expect(messageIn(found.space).endsWith(line)).toBe(mayAccept);
      expect(found.space.statuses.get('Tenant/demo')?.deployment).toBeUndefined();
    });

    it.each([
      ['sibling-uid', /that of Tenant other:/],
      ['foreign-uid', /belongs to a Tenant that this operator does not see \(UID foreign-uid\)/],
    ])('that had another store says whose this one is (UID %s)', async (uid, words) => {
      const found = await begun();
      found.space.statuses.set('Tenant/demo', { conditions: [], deployment: first } as never);
      found.space.runtime.become('demo-server', { kind: 'starting', waitsFor: `store:${second}:${uid}` });
      await found.pass(onDatabase());
      expect(found.space.conditions('Tenant/demo')).toEqual([
        'Ready=False StoreOfAnother',
        'Stalled=True StoreOfAnother',
      ]);
      expect(messageIn(found.space)).toMatch(words);
      expect(found.space.statuses.get('Tenant/demo')?.deployment).toBe(first);
    });

    it('is looked at again while it waits, and says once the Tenant that has the store is gone', async () => {
      const found = await begun();
      found.space.runtime.become('demo-server', { kind: 'starting', waitsFor: `store:${second}:sibling-uid` });
      found.space.later.clear();
      await found.pass(onDatabase());
      expect(messageIn(found.space)).toMatch(/that of Tenant other:/);
      expect(found.space.later.get('Tenant/demo')).toBe(60_000);
      siblings.delete('sibling-uid');
      await found.pass(onDatabase());
      expect(messageIn(found.space)).toMatch(/UID sibling-uid.*a former one/);
    });

    it('says that the store that it accepted is not there, and begins no other one', async () => {
      const found = await begun();
      const accepted = onDatabase({ 'coffer.dev/accept-store': second });
      await found.pass(accepted);
      found.space.runtime.become('demo-server', { kind: 'starting', waitsFor: `store:${nextDeployment(second)}` });
      await found.pass(accepted);
      expect(found.space.conditions('Tenant/demo')).toEqual([
        'Ready=False StoreReplaced',
        'Stalled=True StoreReplaced',
      ]);
      expect(messageIn(found.space)).toMatch(
        /new or empty.*kubectl annotate tenants.coffer.dev demo coffer.dev\/accept-store-$/,
      );
    });

    it('has the store of a Tenant that is away once its own Tenant accepts it', async () => {
      const found = await begun();
      found.space.runtime.become('demo-server', { kind: 'starting', waitsFor: `store:${second}:foreign-uid` });
      const accepted = onDatabase({ 'coffer.dev/accept-store': second });
      await found.pass(accepted);
      expect(isStalled(found.space, 'demo')).toBe(false);
      await found.space.allReady(found.reconciler);
      await found.pass(accepted);
      // With the acceptance the Tenant takes the store back where another one has taken it since.
      expect(file(found)).toEqual({ expected: second, accepted: second, tenant: identity });
      expect(found.space.conditions('Tenant/demo')).toContain('Ready=True Ready');
    });
  });

  it('on a volume gets no UID, since a backup gives the volume to a Tenant with another one', async () => {
    const found = await observed({ tenantUids: { uidOf: () => 'own-uid', find: () => undefined } });
    await found.pass(tenant());
    expect(file(found)).not.toHaveProperty('tenant');
  });

  it('learns which stores are those of other Tenants, and says whose it has', async () => {
    const found = await known();
    await found.pass(tenant(), tenant({}, 'other'));
    await found.space.allReady(found.reconciler);
    found.space.statuses.set('Tenant/other', { conditions: [], deployment: second } as never);
    found.space.statuses.set('Tenant/demo', { conditions: [] } as never);
    found.space.runtime.become('demo-server', { kind: 'starting', waitsFor: `store:${second}` });
    await found.pass(tenant(), tenant({}, 'other'));
    expect(file(found)).toEqual({ others: [second] });
    expect(found.space.conditions('Tenant/demo')).toContain('Stalled=True StoreOfAnother');
    const message = found.space.statuses.get('Tenant/demo')?.conditions[0]?.message;
    expect(message).toMatch(/another deployment.*Tenant other/);
    expect(found.space.statuses.get('Tenant/demo')?.deployment).toBeUndefined();
  });

  /** Each has recorded the store, and serves. */
  const recorded = async (objects: readonly CofferObject[], more: Partial<ReconcilerOptions> = {}) => {
    const found = await observed(more);
    found.space.secrets = [
      { name: 'database', data: { url: 'postgres://coffer@database/coffer' }, uses: new Set(['database']) },
    ];
    found.state.store = first;
    for (const { metadata } of objects) {
      found.space.statuses.set(`Tenant/${metadata.name}`, {
        observedGeneration: 1,
        conditions: [],
        deployment: first,
      });
    }
    await found.pass(...objects);
    for (let turn = 0; turn < 2; turn++) await found.space.allReady(found.reconciler);
    found.space.runtime.told.length = 0;
    return found;
  };

  describe('whose store another one has recorded too', () => {
    const database = { records: { postgres: { urlSecretRef: { name: 'database', key: 'url' } } } };
    const of = (name: string, creationTimestamp: string, storage: object = database) => {
      const { metadata, ...rest } = tenant({ storage }, name);
      return { ...rest, metadata: { ...metadata, creationTimestamp } };
    };
    const [early, late] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'];

    it.each([
      ['is the older one', late, early, database],
      ['is the first by name, of two of one second', early, early, database],
      ['is the older one, with volumes of their own', late, early, undefined],
    ])('keeps it where it %s, and the other is stalled and goes on serving', async (_title, demo, other, storage) => {
      const objects = [of('demo', demo, storage), of('other', other, storage)];
      const { space, pass } = await recorded(objects);
      const [winner, loser] = demo === early ? ['demo', 'other'] : ['other', 'demo'];
      for (let turn = 0; turn < 3; turn++) {
        await pass(...objects);
        expect(isStalled(space, loser)).toBe(true);
        expect(isStalled(space, winner)).toBe(false);
        expect(space.statuses.get('Tenant/demo')?.deployment).toBe(first);
        expect(space.statuses.get('Tenant/other')?.deployment).toBe(first);
      }
      expect(space.runtime.told.filter((told) => told.startsWith('replace'))).toEqual([]);
    });

    it.each([
      ['accepted it as a copy', { accepted: true, serves: true }],
      ['is hibernated or paused', { accepted: false, serves: false }],
    ])('keeps it where the other one is older and %s', async (_title, more) => {
      const elsewhere = new Map([[first, { at: 'a/copy', created: early, ...more }]]);
      const { space, pass } = await recorded([of('demo', late)], { databasesElsewhere: () => elsewhere });
      await pass(of('demo', late));
      expect(isStalled(space, 'demo')).toBe(false);
      expect(space.statuses.get('Tenant/demo')?.deployment).toBe(first);
      expect(space.runtime.told.filter((told) => told.startsWith('replace'))).toEqual([]);
    });
  });

  describe('on a volume that was there before it', () => {
    const claim = 'data-demo-server-0';
    const uid = '33333333-3333-4333-8333-333333333333';
    const restored = async (volume: object) => {
      const found = await known();
      found.space.statuses.delete('Tenant/demo');
      found.space.runtime.dataVolumes.set('demo-server', { claim, ...volume });
      await found.pass(tenant());
      return found;
    };

    it('may have no store on it without its acceptance, and the condition has the line for that', async () => {
      const found = await restored({ unproven: uid });
      expect(file(found)).toEqual({ unprovenClaim: uid });
      found.space.runtime.become('demo-server', { kind: 'starting', waitsFor: `store:${second}` });
      await found.pass(tenant());
      expect(found.space.conditions('Tenant/demo')).toEqual([
        'Ready=False StoreNotProven',
        'Stalled=True StoreNotProven',
      ]);
      const message = found.space.statuses.get('Tenant/demo')?.conditions[0]?.message;
      expect(message).toContain(claim);
      expect(message).toMatch(
        new RegExp(`kubectl annotate tenants.coffer.dev demo --overwrite coffer.dev/accept-store=${second}$`),
      );
      expect(found.space.statuses.get('Tenant/demo')?.deployment).toBeUndefined();
    });

    it('is told where it is empty, which a restore may not have meant', async () => {
      const found = await restored({ unproven: uid });
      found.space.runtime.become('demo-server', { kind: 'starting', waitsFor: `store:${nextDeployment(uid)}` });
      await found.pass(tenant());
      expect(found.space.statuses.get('Tenant/demo')?.conditions[0]?.message).toContain('which is empty');
    });

    it('takes the accepted store, which the volume names from then on', async () => {
      const found = await restored({ unproven: uid });
      await found.pass(accepting(second));
      expect(file(found)).toEqual({ unprovenClaim: uid, accepted: second });
      expect(found.space.conditions('Tenant/demo')).toContain('Ready=False StoreNotProven');
      await found.pass(accepting(first));
      await found.space.allReady(found.reconciler);
      await found.pass(accepting(first));
      expect(found.space.statuses.get('Tenant/demo')?.deployment).toBe(first);
      expect(found.space.runtime.dataVolumes.get('demo-server')).toEqual({ claim, deployment: first });
      await found.pass(accepting(first));
      expect(file(found)).toEqual({ expected: first });
    });

    it('takes the store that the volume names, without a word', async () => {
      const found = await restored({ deployment: first });
      expect(file(found)).toEqual({ expected: first });
      await found.space.allReady(found.reconciler);
      await found.pass(tenant());
      expect(found.space.statuses.get('Tenant/demo')?.deployment).toBe(first);
      expect(found.space.conditions('Tenant/demo')).toContain('Ready=True Ready');
    });

    it('may not have a store that the volume does not name: its content was not restored', async () => {
      const found = await restored({ deployment: first });
      found.space.runtime.become('demo-server', { kind: 'starting', waitsFor: `store:${second}` });
      await found.pass(tenant());
      expect(found.space.conditions('Tenant/demo')).toContain('Stalled=True StoreReplaced');
    });
  });

  it('that refuses its store makes the Tenant Stalled with the line that accepts it', async () => {
    const found = await known();
    found.space.runtime.become('demo-server', { kind: 'starting', waitsFor: `store:${second}` });
    await found.pass(tenant());
    expect(found.space.conditions('Tenant/demo')).toEqual(['Ready=False StoreReplaced', 'Stalled=True StoreReplaced']);
    const message = found.space.statuses.get('Tenant/demo')?.conditions[0]?.message;
    expect(message).toContain(`kubectl annotate tenants.coffer.dev demo --overwrite coffer.dev/accept-store=${second}`);
    expect(found.space.statuses.get('Tenant/demo')?.deployment).toBe(first);
    await found.pass(accepting(second));
    expect(found.space.conditions('Tenant/demo')).not.toContain('Stalled=True StoreReplaced');
  });
});

describe('the store of a Tenant', () => {
  it('is the one whose deployment its status names', async () => {
    const { space, state } = await observed();
    expect(space.statuses.get('Tenant/demo')?.deployment).toBe('first');
    expect(space.conditions('Tenant/demo')).toEqual(['Ready=True Ready']);
    expect(state.applied).toBeGreaterThan(0);
  });

  it('with little room has a condition beside Ready, until it has more', async () => {
    const { space, state, pass } = await observed();
    state.space = { free: 5, total: 100 };
    await pass(tenant());
    expect(space.conditions('Tenant/demo')).toEqual(['Ready=True Ready', 'VolumeFull=True NearlyFull']);
    state.space = { free: 50, total: 100 };
    await pass(tenant());
    expect(space.conditions('Tenant/demo')).toEqual(['Ready=True Ready']);
  });

  it('that is another one is not ready, keeps the ID of its data, and gets no resource', async () => {
    const { space, state, pass } = await observed();
    state.store = 'empty';
    state.applied = 0;
    await pass(bucket, tenant(), bucket);
    expect(space.conditions('Tenant/demo')).toEqual(['Ready=False StoreReplaced', 'Stalled=True StoreReplaced']);
    expect(space.statuses.get('Tenant/demo')?.deployment).toBe('first');
    expect(state.applied).toBe(0);
    const message = space.statuses.get('Tenant/demo')?.conditions[0]?.message;
    expect(message).toContain('kubectl annotate tenants.coffer.dev demo --overwrite coffer.dev/accept-store=empty');
    expect(space.events.at(-1)).toMatchObject({ type: 'Warning', reason: 'StoreReplaced' });
  });

  it('is accepted by its own ID, once: the next one is not', async () => {
    const { space, state, pass } = await observed();
    state.store = 'empty';
    await pass(accepting('other'), bucket);
    expect(space.conditions('Tenant/demo')?.[0]).toBe('Ready=False StoreReplaced');
    await pass(accepting('empty'), bucket);
    expect(space.conditions('Tenant/demo')).toEqual(['Ready=True Ready']);
    expect(space.statuses.get('Tenant/demo')?.deployment).toBe('empty');
    state.store = 'again-empty';
    await pass(accepting('empty'), bucket);
    expect(space.conditions('Tenant/demo')?.[0]).toBe('Ready=False StoreReplaced');
  });

  it('that comes back is ready again', async () => {
    const { space, state, pass } = await observed();
    state.store = 'empty';
    await pass(tenant(), bucket);
    state.store = 'first';
    await pass(tenant(), bucket);
    expect(space.conditions('Tenant/demo')).toEqual(['Ready=True Ready']);
  });

  it('that was restored is ready and told, until an annotation from after the restore promotes it', async () => {
    const { space, state, pass } = await observed();
    state.restored = '2026-11-30T12:00:00.000Z';
    for (const written of [tenant(), promoting('2026-11-30T11:59:59.000Z'), promoting('soon')]) {
      await pass(written, bucket);
      expect(space.conditions('Tenant/demo')).toEqual(['Ready=True Ready', 'StorePromoted=False NotPromoted']);
      expect(state.promoted).toBe(0);
    }
    const told = space.statuses.get('Tenant/demo')?.conditions.find(({ type }) => type === 'StorePromoted');
    expect(told?.message).toContain('kubectl coffer promote tenant/demo');
    await pass(promoting('2026-11-30T12:00:01.000Z'), bucket);
    expect(state.promoted).toBe(1);
    expect(space.conditions('Tenant/demo')).toEqual(['Ready=True Ready']);
    // The next restore is another decision.
    state.restored = '2026-11-30T13:00:00.000Z';
    await pass(promoting('2026-11-30T12:00:01.000Z'), bucket);
    expect(state.promoted).toBe(1);
  });
});

describe('whether the server of a tenant has run', () => {
  it.each([
    ['not for a new one', undefined, false, false],
    ['by its status', 'first', false, true],
    ['by its volumes, where a backup gave it back without a status', undefined, true, true],
  ])('is told: %s', async (_title, deployment, hasData, told) => {
    const status = {
      get: () => (deployment === undefined ? undefined : { observedGeneration: 1, conditions: [], deployment }),
    };
    const runtime = { hasData: (name: string) => Promise.resolve(hasData && name === 'demo-server') };
    expect(await hasRun(tenant(), { status, runtime })).toBe(told);
  });
});
