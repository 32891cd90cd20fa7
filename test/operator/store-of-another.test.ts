import { afterEach, beforeEach, expect, it } from 'vitest';
import { wellBehaved } from '../support/kubernetes/pod-status.ts';
import { sharedStore, tenantOfSeveral } from '../support/operator/manifests.ts';
import { condition, imageOf } from '../support/operator/read-cluster.ts';
import { Stage } from '../support/operator/stage.ts';

// A Tenant whose database has the store of another one, by the answers of its server to a probe.

const demo = { kind: 'Tenant', name: 'demo' } as const;
const other = { kind: 'Tenant', name: 'other' } as const;
const store = '11111111-1111-4111-8111-111111111111';

let stage: Stage;
/** What the servers of Tenant demo say that they wait for. */
let waitsFor = '';

/** Only servers that are not ready are asked. */
const askHealth = () => Promise.resolve({ status: 503, waitsFor });

beforeEach(async () => {
  stage = await Stage.set(sharedStore(), {}, { askHealth });
  stage.double.behave((pod) => (imageOf(pod) === 'waits:1' ? { kind: 'not-ready' } : wellBehaved(pod)));
});
afterEach(async () => {
  expect(await stage.strike()).toEqual([]);
});

const uidOf = ({ name }: { readonly name: string }) =>
  stage.double.list('tenants.coffer.dev').find(({ metadata }) => metadata.name === name)?.metadata.uid ?? '';
/** The texts of all files of the pods of Tenant demo. */
const files = () => [...texts('secrets', 'base64'), ...texts('configmaps', 'utf8')];
const texts = (type: string, encoding: BufferEncoding) =>
  stage.double
    .list(type)
    .filter(({ metadata }) => metadata.name.startsWith('demo-server'))
    .flatMap(({ data = {} }) => Object.values(data as Readonly<Record<string, string>>))
    .map((value) => Buffer.from(value, encoding).toString('utf8'));
/** What is in the file of `SVC_DEPLOYMENT_FILE`. */
const expected = () => files().find((text) => text.includes('"tenant":'));

const message = () => condition(stage.double, demo, 'Ready')?.message ?? '';

it('gets the UID of its Tenant, and says whose store its database has, in a cluster of another operator', async () => {
  waitsFor = `store:${store}:22222222-2222-4222-8222-222222222222`;
  stage.put(tenantOfSeveral('demo', 2, { image: 'waits:1' }));
  await stage.says(demo, 'Stalled', 'StoreOfAnother');
  expect(condition(stage.double, demo, 'Ready')).toMatchObject({ status: 'False', reason: 'StoreOfAnother' });
  expect(message()).toContain(`this Tenant (UID ${uidOf(demo)})`);
  expect(message()).toMatch(/UID 22222222-.*one of another cluster, or a former one/);
  expect(message()).toMatch(new RegExp(`accept-store=${store}$`));
  const tenant = { name: 'demo', namespace: 'default', uid: uidOf(demo) };
  expect(JSON.parse(expected() ?? '')).toEqual({ tenant });
  const { metadata, ...rest } = tenantOfSeveral('demo', 2, { image: 'waits:1' });
  stage.put({ ...rest, metadata: { ...metadata, annotations: { 'coffer.dev/accept-store': store } } });
  await stage.until(() => expected()?.includes('accepted') === true, 'the file has the accepted store');
  expect(JSON.parse(expected() ?? '')).toEqual({ tenant, accepted: store });
});

it('names the Tenant of its own operator that has the store', async () => {
  await stage.settle(tenantOfSeveral('other', 2));
  waitsFor = `store:${store}:${uidOf(other)}`;
  stage.put(tenantOfSeveral('demo', 2, { image: 'waits:1' }));
  await stage.says(demo, 'Stalled', 'StoreOfAnother');
  expect(message()).toMatch(/which is that of Tenant other:/);
  expect(message()).not.toContain('accept-store');
});
