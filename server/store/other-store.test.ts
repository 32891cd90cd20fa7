import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nextDeployment } from '../../protocol/expected-deployment.ts';
import { idOfNewStore, newTenantOf, OtherStoreError, readExpectedDeployment, refuseOtherStore } from './other-store.ts';

const expected = randomUUID();

function refusal(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('an empty store', () => {
  it('is taken where no deployment is expected', () => {
    expect(idOfNewStore({}, 'here')).toBeUndefined();
  });
  it('is refused where the data was elsewhere, with the ID that it would get', () => {
    const error = refusal(() => idOfNewStore({ expected }, 'here'));
    expect(error).toBeInstanceOf(OtherStoreError);
    expect(error).toMatchObject({ store: nextDeployment(expected), message: expect.stringContaining(expected) });
  });
  it('is begun with that ID once it is accepted', () => {
    const accepted = nextDeployment(expected);
    expect(idOfNewStore({ expected, accepted }, 'here')).toBe(accepted);
  });
  it('is not begun by an acceptance of another store, or of one that was lost itself', () => {
    expect(refusal(() => idOfNewStore({ expected, accepted: randomUUID() }, 'here'))).toBeInstanceOf(OtherStoreError);
    const second = nextDeployment(expected);
    expect(refusal(() => idOfNewStore({ expected: second, accepted: second }, 'here'))).toMatchObject({
      store: nextDeployment(second),
    });
  });
  it('is refused in a database where a store was accepted that is to be restored there', () => {
    const tenant = { name: 'demo', namespace: 'team', uid: 'one' };
    const error = refusal(() => idOfNewStore({ tenant, accepted: expected }, 'here'));
    expect(error).toBeInstanceOf(OtherStoreError);
    expect(error).toMatchObject({ store: nextDeployment(expected), message: expect.stringContaining(expected) });
    expect(idOfNewStore({ tenant }, 'here')).toBeUndefined();
  });
  it('is begun on a volume that was there before once it is accepted', () => {
    const unprovenClaim = randomUUID();
    const next = nextDeployment(unprovenClaim);
    const error = refusal(() => idOfNewStore({ unprovenClaim, accepted: randomUUID() }, 'here'));
    expect(error).toMatchObject({ store: next, message: expect.stringContaining('was there before') });
    expect(idOfNewStore({ unprovenClaim, accepted: next }, 'here')).toBe(next);
  });
});

describe('a store of a deployment', () => {
  it.each([{}, { expected }, { expected: randomUUID(), accepted: expected }])('is taken with %j', (file) => {
    expect(refusal(() => refuseOtherStore(file, { deploymentId: expected }, 'here'))).toBeUndefined();
  });
  it('is refused where it is neither the expected nor the accepted one', () => {
    const file = { expected: randomUUID(), accepted: randomUUID() };
    const error = refusal(() => refuseOtherStore(file, { deploymentId: expected }, 'here'));
    expect(error).toMatchObject({ code: 'other-store', store: expected });
  });
  it('is refused on a volume that was there before, until it is accepted', () => {
    const unprovenClaim = randomUUID();
    const found = { deploymentId: expected };
    expect(refusal(() => refuseOtherStore({ unprovenClaim }, found, 'here'))).toMatchObject({ store: expected });
    expect(refusal(() => refuseOtherStore({ unprovenClaim, accepted: expected }, found, 'here'))).toBeUndefined();
  });
  it('is refused where it is that of another deployment, though nothing is expected yet', () => {
    const error = refusal(() => refuseOtherStore({ others: [expected] }, { deploymentId: expected }, 'here'));
    expect(error).toMatchObject({ store: expected, message: expect.stringContaining('another deployment') });
  });
});

describe('the store of a Tenant', () => {
  const tenant = { name: 'demo', namespace: 'team', uid: 'one' };
  const other = { ...tenant, uid: 'two' };
  const found = { deploymentId: expected, tenant: other };

  it('is refused by the server of another one, whose name may be the same', () => {
    const error = refusal(() => refuseOtherStore({ tenant }, found, 'here'));
    expect(error).toBeInstanceOf(OtherStoreError);
    expect(error).toMatchObject({ store: expected, tenant: 'two' });
    expect(error).toMatchObject({ message: expect.stringMatching(/demo of namespace team \(UID two\).*UID one/) });
  });
  it('is refused by the server of one that had another store, with whose it is', () => {
    const error = refusal(() => refuseOtherStore({ tenant, expected: randomUUID() }, found, 'here'));
    expect(error).toMatchObject({ store: expected, tenant: 'two' });
    expect(error).toMatchObject({ message: expect.stringMatching(/UID two.*UID one/) });
  });
  it('is refused by the server of a Tenant that had another one and may have left this behind', () => {
    const error = refusal(() => refuseOtherStore({ tenant: other, expected: randomUUID() }, found, 'here'));
    expect(error).toMatchObject({ store: expected, tenant: undefined });
  });
  it.each([
    ['its own server', { tenant: other }],
    ['a server that had it before', { tenant, expected }],
    ['a server whose Tenant accepted it', { tenant, accepted: expected }],
    ['a server without an operator', {}],
  ])('is taken by %s', (_whose, file) => {
    expect(refusal(() => refuseOtherStore(file, found, 'here'))).toBeUndefined();
  });
  it('is that of the first Tenant whose server has it, where the records name none', () => {
    expect(refusal(() => refuseOtherStore({ tenant }, { deploymentId: expected }, 'here'))).toBeUndefined();
    expect(newTenantOf({ tenant }, { deploymentId: expected })).toBe(tenant);
    expect(newTenantOf({}, { deploymentId: expected })).toBeUndefined();
  });
  it('is that of a Tenant that accepts it from then on, also of one that had it before', () => {
    expect(newTenantOf({ tenant, accepted: expected }, found)).toBe(tenant);
    expect(newTenantOf({ tenant, accepted: expected, expected }, found)).toBe(tenant);
    expect(newTenantOf({ tenant, expected }, found)).toBeUndefined();
    expect(newTenantOf({ tenant: other, accepted: expected }, found)).toBeUndefined();
  });
});

describe('the file of the expected deployment', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'expected-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('expects any store without a setting', async () => {
    expect(await readExpectedDeployment(undefined)).toEqual({});
  });
  it('is no permission for any store where it is missing or damaged', async () => {
    const path = join(folder, 'expected.json');
    await expect(readExpectedDeployment(path)).rejects.toThrow(/SVC_DEPLOYMENT_FILE.*no such file/i);
    await writeFile(path, '{"expected":"one"}');
    await expect(readExpectedDeployment(path)).rejects.toThrow(/not what the operator writes/);
    await writeFile(path, JSON.stringify({ expected }));
    expect(await readExpectedDeployment(path)).toEqual({ expected });
  });
});

it('the ID in the place of a lost one is a UUID that follows from it', () => {
  expect(nextDeployment(expected)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(nextDeployment(expected)).toBe(nextDeployment(expected));
  expect(nextDeployment(nextDeployment(expected))).not.toBe(nextDeployment(expected));
});
