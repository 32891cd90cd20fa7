import { describe, expect, it } from 'vitest';
import { ResourceError } from '../../api/resource-error.ts';
import { Namespace, tenant } from '../../../test/support/operator/reconciler-harness.ts';
import type { Spec } from '../../../test/support/operator/rules/rule-cases.ts';
import type { TierController } from './tier-controller.ts';

const tier = { name: 'COLD', type: 's3', bucket: 'cold', credentialsSecret: { name: 'cold' } };
const record = { name: 'COLD', credentials: 'f' };

async function pass(tiers: TierController, spec: Spec = { tiers: [tier] }) {
  const space = new Namespace();
  space.objects = [tenant(spec)];
  const reconciler = space.open({ tiers });
  await reconciler.start();
  await space.settle(reconciler);
  await space.allReady(reconciler);
  await space.allReady(reconciler);
  return space;
}

function messageOf(space: Namespace): string | undefined {
  return space.statuses.get('Tenant/demo')?.conditions.find(({ type }) => type === 'TiersReady')?.message;
}

describe('the tiers of a Tenant', () => {
  it('are set when its server serves, and looked at again later', async () => {
    const asked: string[][] = [];
    const space = await pass((wanted, { onChanged }) => {
      asked.push(wanted.map(({ name }) => name));
      onChanged(['there is no tier COLD']);
      return Promise.resolve({ added: [record] });
    });
    expect(asked[0]).toEqual(['COLD']);
    expect(space.conditions('Tenant/demo')).toEqual(['Ready=True Ready', 'TiersReady=True Ready']);
    expect(space.statuses.get('Tenant/demo')?.tiers).toEqual([record]);
    expect(messageOf(space)).toBe('tiers are as they should be: COLD');
    expect(space.later.get('Tenant/demo')).toBeGreaterThan(60_000);
    expect(space.events.map(({ reason }) => reason)).toContain('TiersChanged');
  });

  it('that cannot be set are the reason why it is not ready', async () => {
    const error = new ResourceError('SecretNotAllowed', 'spec.tiers[0].credentialsSecret names the Secret cold');
    const space = await pass(() => Promise.resolve({ added: [], failure: { error, doing: 'the tier cannot be set' } }));
    expect(space.conditions('Tenant/demo')).toEqual([
      'Ready=False SecretNotAllowed',
      'Stalled=True SecretNotAllowed',
      'TiersReady=False SecretNotAllowed',
    ]);
  });

  it('are said to be none after the last was removed', async () => {
    const space = new Namespace();
    const reconciler = space.open({ tiers: (wanted) => Promise.resolve({ added: wanted.map(() => record) }) });
    space.objects = [tenant({ tiers: [tier] })];
    await reconciler.start();
    await space.settle(reconciler);
    await space.allReady(reconciler);
    await space.allReady(reconciler);
    await space.change(reconciler, tenant({}));
    expect(messageOf(space)).toBe('tiers are as they should be: none');
  });

  it('are not asked for where it has none', async () => {
    let asked = 0;
    const space = await pass(() => {
      asked += 1;
      return Promise.resolve({ added: [] });
    }, {});
    expect(asked).toBe(0);
    expect(space.conditions('Tenant/demo')).toEqual(['Ready=True Ready']);
  });
});
