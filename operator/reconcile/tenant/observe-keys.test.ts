import { describe, expect, it } from 'vitest';
import { kms, Namespace, tenant } from '../../../test/support/operator/reconciler-harness.ts';
import { ResponseError } from '../../../protocol/response-error.ts';
import { workloadName } from '../../render/render-context.ts';
import type { Reconciler } from '../reconciler.ts';
import type { SealedKeys } from './read-sealed-keys.ts';

const canary = { version: 'one', ciphertext: 'YQ==', digest: '0'.repeat(64) };
const sealed: SealedKeys = {
  defaultKey: 'default-key',
  keys: [
    { key: 'default-key', canaries: [canary] },
    { key: 'team-a', canaries: [canary] },
  ],
};

/** A tenant whose server answers what `answer` says, once everything is ready. */
async function observed(answer: () => SealedKeys) {
  const space = new Namespace();
  space.objects = [kms(), tenant({ kmsConfigRef: { name: 'keys' } })];
  const reconciler = space.open({ sealedKeys: async () => answer() });
  await reconciler.start();
  await space.settle(reconciler);
  for (let turn = 0; turn < 4; turn++) await space.allReady(reconciler);
  return { space, again: () => again(space, reconciler) };
}

async function again(space: Namespace, reconciler: Reconciler) {
  await reconciler.reconcile({ kind: 'Tenant', name: 'demo' });
  await space.settle(reconciler);
}

const kmsReady = (space: Namespace) =>
  space.statuses.get('Tenant/demo')?.conditions.find(({ type }) => type === 'KMSReady');

function canariesOfKeyService(space: Namespace): unknown {
  const mount = space.runtime.desired
    .get(workloadName({ kind: 'KMSConfig', name: 'keys' }))
    ?.mounts.find(({ name }) => name === 'config');
  const file = mount?.kind === 'files' ? mount.files.find(({ path }) => path === 'canaries.json') : undefined;
  return file?.content.kind === 'text' ? JSON.parse(file.content.text) : undefined;
}

describe('the keys that sealed the data of a Tenant', () => {
  it('are repeated in its status, and the key service gets them', async () => {
    const { space } = await observed(() => sealed);
    expect(space.statuses.get('Tenant/demo')?.keys).toEqual(sealed.keys);
    expect(kmsReady(space)).toMatchObject({ status: 'True' });
    expect(canariesOfKeyService(space)).toEqual(sealed.keys);
  });

  it('stay in the status while the server does not answer', async () => {
    let isAway = false;
    const { space, again } = await observed(() => {
      if (isAway) throw new ResponseError('Unreachable', 'it is away', { status: 0 });
      return sealed;
    });
    isAway = true;
    await again();
    expect(space.statuses.get('Tenant/demo')?.keys).toEqual(sealed.keys);
    expect(canariesOfKeyService(space)).toEqual(sealed.keys);
  });

  it('that the key service has not are a condition of the Tenant, by name', async () => {
    let keys = sealed.keys;
    const { space, again } = await observed(() => ({ ...sealed, keys }));
    keys = [{ key: 'team-a', canaries: [canary], error: { code: 'wrong-key', message: 'another key' } }];
    await again();
    expect(kmsReady(space)).toMatchObject({
      status: 'False',
      reason: 'KeysNotProven',
      message: expect.stringContaining('team-a: another key'),
    });
  });

  it('that cannot be asked for are an outage, also while the key service says that it is ready', async () => {
    let keys = sealed.keys;
    const { space, again } = await observed(() => ({ ...sealed, keys }));
    keys = [{ key: 'default-key', canaries: [canary], error: { code: 'unavailable', message: 'it is away' } }];
    await again();
    expect(kmsReady(space)).toMatchObject({ status: 'False', reason: 'KeyServiceUnavailable' });
    keys = sealed.keys;
    await again();
    expect(kmsReady(space)).toMatchObject({ status: 'True' });
  });

  it('are not proven while a status without them has not been told them again', async () => {
    const { space, again } = await observed(() => {
      throw new ResponseError('Unreachable', 'it is away', { status: 0 });
    });
    await again();
    expect(kmsReady(space)).toMatchObject({ status: 'Unknown', reason: 'KeysNotProven' });
  });
});
