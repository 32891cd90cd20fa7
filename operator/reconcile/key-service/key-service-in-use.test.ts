import { beforeEach, describe, expect, it } from 'vitest';
import type { CofferObject } from '../../api/object.ts';
import type { ReconcilerOptions } from '../reconciler-options.ts';
import { kms, Namespace, tenant } from '../../../test/support/operator/reconciler-harness.ts';
import type { Reconciler } from '../reconciler.ts';
import { objectKey } from '../resources.ts';

let scope: Namespace;
let held: Set<string>;
let options: Partial<ReconcilerOptions>;
beforeEach(() => {
  scope = new Namespace();
  held = new Set();
  options = {
    finalizer: {
      hold: (ref) => Promise.resolve(void held.add(objectKey(ref))),
      release: (ref) => Promise.resolve(void held.delete(objectKey(ref))),
    },
  };
});

const withKeys = (name = 'keys') => ({ kmsConfigRef: { name } });

async function started(...objects: readonly CofferObject[]) {
  const operator = scope.open(options);
  scope.objects = objects;
  await operator.start();
  await scope.settle(operator);
  for (let turn = 0; turn < 3; turn++) await scope.allReady(operator);
  scope.forget();
  return operator;
}

const message = () => scope.statuses.get('Tenant/demo')?.conditions.find(({ type }) => type === 'Stalled')?.message;

describe('the deletion of a KMSConfig', () => {
  it('waits while a tenant uses it, names the tenant, and leaves the key service running', async () => {
    const operator = await started(tenant(withKeys()), kms());
    scope.deleting.add('KMSConfig/keys');
    await scope.change(operator, tenant(withKeys()), kms());
    expect(held).toContain('KMSConfig/keys');
    expect(scope.conditions('KMSConfig/keys')).toContain('Stalled=True InUse');
    expect(scope.statuses.get('KMSConfig/keys')?.conditions.find(({ type }) => type === 'Stalled')?.message).toMatch(
      /Tenant demo/,
    );
    expect([...scope.runtime.running.keys()]).toContain('keys-key-service');
  });

  it('tells of its wait in one event', async () => {
    const operator = await started(tenant(withKeys()), kms());
    scope.deleting.add('KMSConfig/keys');
    await scope.change(operator, tenant(withKeys()), kms());
    await scope.change(operator, tenant(withKeys()), kms());
    expect(scope.events.filter(({ reason }) => reason === 'InUse')).toHaveLength(1);
  });

  it('goes on once the tenant is gone', async () => {
    const operator = await started(tenant(withKeys()), kms());
    scope.deleting.add('KMSConfig/keys');
    await scope.change(operator, tenant(withKeys()), kms());
    await scope.change(operator, kms());
    expect(held).not.toContain('KMSConfig/keys');
  });

  it('waits for a server that still runs with it, though its tenant names another', async () => {
    const operator = await started(tenant(withKeys()), kms());
    scope.deleting.add('KMSConfig/keys');
    await scope.change(operator, tenant({ ...withKeys('other'), paused: true }), kms(), kms({}, 'other'));
    expect(held).toContain('KMSConfig/keys');
  });

  it('waits for nothing where no tenant uses it', async () => {
    await started(kms());
    expect(held).not.toContain('KMSConfig/keys');
  });

  it('needs no spec that this operator can read, and waits for its tenants all the same', async () => {
    const operator = await started(tenant(withKeys()), kms());
    scope.deleting.add('KMSConfig/keys');
    scope.invalid.set('KMSConfig/keys', 'spec.keystore: unknown');
    await scope.change(operator, tenant(withKeys()));
    expect(held).toContain('KMSConfig/keys');
    scope.runtime.running.clear();
    await scope.change(operator);
    await operator.reconcile({ kind: 'KMSConfig', name: 'keys' });
    expect(held).not.toContain('KMSConfig/keys');
  });

  it('keeps a new tenant from starting with it', async () => {
    const operator = await started(tenant(withKeys()), kms());
    scope.deleting.add('KMSConfig/keys');
    await scope.change(
      operator,
      tenant(withKeys()),
      tenant({ kmsConfigRef: { name: 'keys', keyPrefix: 'b-', defaultKey: 'b-key' } }, 'late'),
      kms(),
    );
    expect([...scope.runtime.running.keys()]).not.toContain('late-server');
    expect(scope.conditions('Tenant/late')).toContain('Stalled=True KMSConfigDeleted');
  });
});

describe('another kmsConfigRef', () => {
  it('touches no instance while the other key service is not proven to hold the keys', async () => {
    const operator = await started(tenant(withKeys()), kms(), kms({}, 'other'));
    await scope.change(operator, tenant(withKeys('other')), kms(), kms({}, 'other'));
    expect(scope.runtime.told.filter((told) => told.includes('demo-server'))).toEqual([]);
    expect(scope.conditions('Tenant/demo')).toContain('Stalled=True KeysNotProven');
    expect(message()).toMatch(/KMSConfig other.*KMSConfig keys/);
  });

  it('leaves the tenant its policy at the key service that holds its keys', async () => {
    const operator = await started(tenant(withKeys()), kms(), kms({}, 'other'));
    await scope.change(operator, tenant(withKeys('other')), kms(), kms({}, 'other'));
    expect(JSON.stringify(scope.runtime.desired.get('keys-key-service')?.mounts)).toContain('tenant-demo');
    expect(JSON.stringify(scope.runtime.desired.get('other-key-service')?.mounts)).not.toContain('tenant-demo');
  });

  it('is taken where both keep their keys in the same place', async () => {
    const vault = {
      keystore: {
        vault: {
          endpoint: 'https://vault:8200',
          approle: {
            roleIdSecretRef: { name: 'client', key: 'secret' },
            secretIdSecretRef: { name: 'client', key: 'secret' },
          },
        },
      },
    };
    const operator = await started(tenant(withKeys()), kms(vault), kms(vault, 'other'));
    await scope.change(operator, tenant(withKeys('other')), kms(vault), kms(vault, 'other'));
    for (let turn = 0; turn < 3; turn++) await scope.allReady(operator);
    expect(scope.conditions('Tenant/demo')).toContain('Ready=True Ready');
    expect(JSON.stringify(scope.runtime.running.get('demo-server')?.inputs)).toContain('"other"');
  });

  it('is taken where the operator has asked both, and is not where the keys differ', async () => {
    let answer: string | undefined = 'the key first differs';
    options = { ...options, proveKeys: () => Promise.resolve(answer) };
    const operator = await started(tenant(withKeys()), kms(), kms({}, 'other'));
    await scope.change(operator, tenant(withKeys('other')), kms(), kms({}, 'other'));
    expect(message()).toContain('the key first differs');
    answer = undefined;
    await scope.change(operator, tenant(withKeys('other')), kms(), kms({}, 'other'));
    for (let turn = 0; turn < 3; turn++) await scope.allReady(operator);
    expect(scope.conditions('Tenant/demo')).toContain('Ready=True Ready');
  });

  it('lets the operator ask the other key service for these keys, and the tenant not yet', async () => {
    options = { ...options, proveKeys: () => Promise.resolve('it lacks first') };
    const operator = await started(tenant(withKeys()), kms(), kms({}, 'other'));
    await scope.change(operator, tenant(withKeys('other')), kms(), kms({}, 'other'));
    const other = () => scope.runtime.desired.get('other-key-service');
    expect(JSON.stringify(other()?.mounts)).toContain('"operator-key-proof"');
    expect(JSON.stringify(other()?.mounts)).not.toContain('tenant-demo');
    expect(other()?.clientCertificates).toEqual(['other-key-proof']);
    await scope.change(operator, tenant(withKeys()), kms(), kms({}, 'other'));
    expect(JSON.stringify(other()?.mounts)).not.toContain('"operator-key-proof"');
    expect(other()?.clientCertificates).toBeUndefined();
  });

  it('is taken where nothing of the tenant runs, so that its server can start again', async () => {
    options = { ...options, proveKeys: () => Promise.resolve(undefined) };
    await started(tenant(withKeys()), kms(), kms({}, 'other'));
    scope.runtime.running.delete('demo-server');
    const operator = scope.open(options);
    await scope.change(operator, tenant(withKeys('other')), kms(), kms({}, 'other'));
    for (let turn = 0; turn < 3; turn++) await scope.allReady(operator);
    expect(scope.conditions('Tenant/demo')).toContain('Ready=True Ready');
    expect(scope.statuses.get('Tenant/demo')?.keyService?.name).toBe('other');
  });

  it('is asked for the keys of the prefix that the tenant had', async () => {
    const asked: unknown[] = [];
    options = {
      ...options,
      proveKeys: ({ from, to, ...rest }) => {
        asked.push({ from: from.metadata.name, to: to.metadata.name, ...rest });
        return Promise.resolve(undefined);
      },
    };
    const before = { kmsConfigRef: { name: 'keys', keyPrefix: 'demo-', defaultKey: 'demo-main' } };
    const operator = await started(tenant(before), kms(), kms({}, 'other'));
    await scope.change(
      operator,
      tenant({ kmsConfigRef: { ...before.kmsConfigRef, name: 'other', keyPrefix: '' } }),
      kms(),
      kms({}, 'other'),
    );
    expect(asked[0]).toEqual({ from: 'keys', to: 'other', tenant: 'demo', keyPrefix: 'demo-' });
  });

  it('is free for a tenant that was never started', async () => {
    const operator = await started(tenant(withKeys('missing')), kms());
    await scope.change(operator, tenant(withKeys()), kms());
    for (let turn = 0; turn < 3; turn++) await scope.allReady(operator);
    expect(scope.conditions('Tenant/demo')).toContain('Ready=True Ready');
  });

  it('is remembered by the status, also of a tenant whose programs were stopped', async () => {
    await started(tenant(withKeys()), kms(), kms({}, 'other'));
    scope.runtime.running.clear();
    const operator = scope.open(options);
    await scope.change(operator, tenant(withKeys('other')), kms(), kms({}, 'other'));
    for (let turn = 0; turn < 3; turn++) await scope.allReady(operator);
    expect(JSON.stringify(scope.runtime.running.get('demo-server')?.inputs ?? [])).not.toContain('"other"');
    expect(scope.conditions('Tenant/demo')).toContain('Stalled=True KeysNotProven');
  });

  it('is in the status before the server is there, so that its key service does not take it for one of a backup', async () => {
    const { runtime } = scope;
    runtime.volumes.clear();
    const seen: unknown[] = [];
    const apply = runtime.apply.bind(runtime);
    let operator: Reconciler | undefined;
    runtime.apply = async (workload, secrets, proven) => {
      await apply(workload, secrets, proven);
      if (workload.name !== 'demo-server') return;
      seen.push(scope.statuses.get('Tenant/demo')?.keyService?.name);
      await operator?.reconcile({ kind: 'KMSConfig', name: 'keys' });
    };
    operator = scope.open(options);
    scope.objects = [tenant(withKeys()), kms()];
    await operator.start();
    await scope.settle(operator);
    for (let turn = 0; turn < 3; turn++) await scope.allReady(operator);
    expect(seen).toEqual(['keys']);
    expect(runtime.told.filter((told) => told.includes('key-service'))).toEqual(['start keys-key-service']);
    expect(JSON.stringify(runtime.desired.get('keys-key-service')?.mounts)).not.toContain('canaries":[]');
  });

  describe('of a new tenant whose first server was refused', () => {
    const refusals = { 'by an error': 'failing', 'by the API server': 'refusing' } as const;
    const refused = async (by: keyof typeof refusals) => {
      scope.runtime[refusals[by]].add('demo-server');
      return started(tenant(withKeys()), kms(), kms({}, 'other'));
    };
    const each = it.each(Object.keys(refusals) as (keyof typeof refusals)[]);

    each('is taken, since nothing is sealed: %s', async (by) => {
      const operator = await refused(by);
      expect(scope.statuses.get('Tenant/demo')?.keyService).toBeUndefined();
      scope.runtime[refusals[by]].clear();
      await scope.change(operator, tenant(withKeys('other')), kms(), kms({}, 'other'));
      for (let turn = 0; turn < 3; turn++) await scope.allReady(operator);
      expect(scope.conditions('Tenant/demo')).toContain('Ready=True Ready');
      expect(scope.statuses.get('Tenant/demo')?.keyService?.name).toBe('other');
    });

    each('keeps no KMSConfig from its deletion: %s', async (by) => {
      const operator = await refused(by);
      scope.deleting.add('KMSConfig/keys');
      await scope.change(operator, tenant(withKeys()), kms());
      expect(held).not.toContain('KMSConfig/keys');
    });

    each('stays where volumes are there: %s', async (by) => {
      const operator = await started(tenant(withKeys()), kms(), kms({}, 'other'));
      scope.runtime.running.delete('demo-server');
      scope.runtime.volumes.add('demo-server');
      scope.runtime[refusals[by]].add('demo-server');
      await scope.change(operator, tenant(withKeys()), kms(), kms({}, 'other'));
      expect(scope.statuses.get('Tenant/demo')?.keyService?.name).toBe('keys');
    });

    each('stays where a server has run, though no volume is there: %s', async (by) => {
      const operator = await started(tenant(withKeys()), kms(), kms({}, 'other'));
      scope.runtime.running.delete('demo-server');
      scope.runtime[refusals[by]].add('demo-server');
      await scope.change(operator, tenant(withKeys()), kms(), kms({}, 'other'));
      expect(scope.statuses.get('Tenant/demo')?.keyService?.name).toBe('keys');
    });
  });

  it('is not in the status of one that waits for it', async () => {
    scope.objects = [tenant(withKeys()), kms()];
    const operator = scope.open(options);
    await operator.start();
    await scope.settle(operator);
    expect(scope.statuses.get('Tenant/demo')?.keyService).toBeUndefined();
  });
});
