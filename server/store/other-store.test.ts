import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nextDeployment } from '../../protocol/expected-deployment.ts';
import { idOfNewStore, OtherStoreError, readExpectedDeployment, refuseOtherStore } from './other-store.ts';

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
    expect(refusal(() => refuseOtherStore(file, expected, 'here'))).toBeUndefined();
  });
  it('is refused where it is neither the expected nor the accepted one', () => {
    const error = refusal(() => refuseOtherStore({ expected: randomUUID(), accepted: randomUUID() }, expected, 'here'));
    expect(error).toMatchObject({ code: 'other-store', store: expected });
  });
  it('is refused on a volume that was there before, until it is accepted', () => {
    const unprovenClaim = randomUUID();
    expect(refusal(() => refuseOtherStore({ unprovenClaim }, expected, 'here'))).toMatchObject({ store: expected });
    expect(refusal(() => refuseOtherStore({ unprovenClaim, accepted: expected }, expected, 'here'))).toBeUndefined();
  });
  it('is refused where it is that of another deployment, though nothing is expected yet', () => {
    const error = refusal(() => refuseOtherStore({ others: [expected] }, expected, 'here'));
    expect(error).toMatchObject({ store: expected, message: expect.stringContaining('another deployment') });
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
