import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setReadOnly } from './commits.ts';
import { key } from './keys.ts';
import { MemoryRecordStore } from './memory/record-store.ts';
import { commitId } from '../../test/support/store/patient.ts';
import { nextDeployment, type ExpectedDeployment, type StoreTenant } from '../../protocol/expected-deployment.ts';
import { temporaryFolder } from '../../test/support/store/temporary-folder.ts';
import {
  decodeDeployment,
  deploymentKey,
  encodeDeployment,
  joinDeployment,
  type JoinOptions,
  requireDeployment,
} from './deployment.ts';
import { folderMarker } from './blobs-marker.ts';
import { StoreError } from './store-error.ts';

let base: Awaited<ReturnType<typeof temporaryFolder>>;
let folder: string;
const markerFile = () => join(folder, 'coffer-deployment.json');

beforeEach(async () => {
  base = await temporaryFolder();
  folder = join(base.path, 'blobs');
  await Promise.all([mkdir(folder), mkdir(join(base.path, 'others')), mkdir(join(base.path, 'moved'))]);
});
afterEach(() => base.remove());

interface More extends Pick<JoinOptions, 'hasBodies' | 'liveOthers' | 'checkKeys' | 'onOtherTenant'> {
  readonly sameFolder?: boolean;
  readonly newId?: string;
  readonly blobs?: string;
  readonly expected?: ExpectedDeployment;
}

function joined(records: MemoryRecordStore, more: More = {}) {
  return joinDeployment({
    ...more,
    records,
    marker: folderMarker(more.blobs ?? folder),
    places: { records: 'postgres://db/coffer', blobs: more.blobs ?? folder },
    sameFolder: more.sameFolder ?? false,
  });
}

const withBucket = async () => {
  const records = new MemoryRecordStore();
  await records.commit({ id: commitId(), put: [{ key: key('b', 'bucket'), value: Buffer.from('x') }] });
  return records;
};

describe('two new stores', () => {
  it('become one deployment, which stays', async () => {
    const records = new MemoryRecordStore();
    const id = await joined(records);
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(await joined(records)).toBe(id);
    expect(await readdir(folder)).toEqual(['coffer-deployment.json']);
  });

  it('take the ID that their folder has already', async () => {
    const newId = '6f0d9a9e-8f3f-4d49-8f0e-0f6f3cf1a111';
    expect(await joined(new MemoryRecordStore(), { newId })).toBe(newId);
  });

  it('become one deployment also when several servers start at once', async () => {
    const records = new MemoryRecordStore();
    const ids = await Promise.all(Array.from({ length: 8 }, () => joined(records)));
    expect(new Set(ids).size).toBe(1);
  });

  it('become one deployment when another server finishes its start between two reads of this one', async () => {
    for (const moment of ['marker', 'buckets'] as const) {
      const records = new MemoryRecordStore();
      const blobs = join(base.path, moment);
      await mkdir(blobs);
      let id: string | undefined;
      const other = async () => {
        id = await joined(records, { blobs });
        await records.commit({ id: commitId(), put: [{ key: key('b', 'bucket'), value: Buffer.from('x') }] });
      };
      const marker = {
        ...folderMarker(blobs),
        async read() {
          const before = await folderMarker(blobs).read();
          if (id === undefined) await other();
          return moment === 'marker' ? folderMarker(blobs).read() : before;
        },
      };
      const places = { records: '', blobs };
      expect(await joinDeployment({ records, marker, places, sameFolder: false })).toBe(id);
    }
  });

  it('become one deployment after a start that ended between the record and the marker', async () => {
    const records = new MemoryRecordStore();
    const cut = { read: () => folderMarker(folder).read(), write: () => Promise.reject(new Error('power cut')) };
    const places = { records: '', blobs: '' };
    await expect(joinDeployment({ records, marker: cut, places, sameFolder: false })).rejects.toThrow('power cut');
    const id = await joined(records);
    expect(await joined(records)).toBe(id);
  });
});

const recordOf = async (records: MemoryRecordStore) =>
  decodeDeployment((await records.get(deploymentKey))?.value ?? Buffer.of(), 'here');

describe('a store of a Tenant', () => {
  const first = { name: 'demo', namespace: 'team', uid: 'one' };
  const second = { name: 'demo', namespace: 'team', uid: 'two' };

  it('is begun by one of two that begin together, and its servers agree on whose it is', async () => {
    const records = new MemoryRecordStore();
    const servers = [first, second, first, second].map((tenant) => joined(records, { expected: { tenant } }));
    const ended = await Promise.allSettled(servers);
    const { tenant, deploymentId } = await recordOf(records);
    for (const [at, whose] of [first, second, first, second].entries()) {
      const result =
        whose.uid === tenant?.uid
          ? { status: 'fulfilled', value: deploymentId }
          : { status: 'rejected', reason: { code: 'other-store', store: deploymentId, tenant: tenant?.uid } };
      expect(ended[at]).toMatchObject(result);
    }
  });

  it('goes to a Tenant that accepts it, and the one that had it goes on with it, and is told', async () => {
    const records = new MemoryRecordStore();
    const told: string[] = [];
    const onOtherTenant = ({ uid }: StoreTenant) => told.push(uid);
    const id = await joined(records, { expected: { tenant: first }, onOtherTenant });
    expect(await joined(records, { expected: { tenant: second, accepted: id }, onOtherTenant })).toBe(id);
    expect(await recordOf(records)).toMatchObject({ tenant: second, marked: true });
    expect(told).toEqual([]);
    expect(await joined(records, { expected: { tenant: first, expected: id }, onOtherTenant })).toBe(id);
    expect(told).toEqual(['two']);
    expect(await recordOf(records)).toMatchObject({ tenant: second });
    await expect(joined(records, { expected: { tenant: first } })).rejects.toMatchObject({ tenant: 'two' });
  });

  it('is taken back by the acceptance of the Tenant that had it', async () => {
    const records = new MemoryRecordStore();
    const id = await joined(records, { expected: { tenant: first } });
    await joined(records, { expected: { tenant: second, accepted: id } });
    await joined(records, { expected: { tenant: first, expected: id, accepted: id } });
    expect(await recordOf(records)).toMatchObject({ tenant: first });
  });

  it('is not taken while servers of the other Tenant serve it, and the refusal names them', async () => {
    const records = new MemoryRecordStore();
    const id = await joined(records, { expected: { tenant: first } });
    let live = ['10.0.0.1:9000'];
    const liveOthers = () => Promise.resolve(live);
    const accepting = () => joined(records, { expected: { tenant: second, accepted: id }, liveOthers });
    await expect(accepting()).rejects.toMatchObject({
      code: 'other-store',
      store: id,
      tenant: 'one',
      message: expect.stringMatching(/10\.0\.0\.1:9000.*stop them/),
    });
    expect(await recordOf(records)).toMatchObject({ tenant: first });
    live = [];
    expect(await accepting()).toBe(id);
    expect(await recordOf(records)).toMatchObject({ tenant: second });
  });

  it('is served by the one that had it while servers of the other serve it, and is not taken back', async () => {
    const records = new MemoryRecordStore();
    const id = await joined(records, { expected: { tenant: first } });
    await joined(records, { expected: { tenant: second, accepted: id } });
    const live = ['10.0.0.2:9000'];
    const more = { expected: { tenant: first, expected: id, accepted: id }, liveOthers: () => Promise.resolve(live) };
    expect(await joined(records, more)).toBe(id);
    expect(await recordOf(records)).toMatchObject({ tenant: second });
  });

  it('is not given to a Tenant whose keys do not open what is sealed in it', async () => {
    const records = new MemoryRecordStore();
    await joined(records);
    const error = new Error('another key');
    const more = { expected: { tenant: first }, checkKeys: () => Promise.reject(error) };
    await expect(joined(records, more)).rejects.toThrow(error);
    expect(await recordOf(records)).not.toHaveProperty('tenant');
  });

  it('is that of the first Tenant that has it, where an earlier server, or one without an operator, began it', async () => {
    const records = new MemoryRecordStore();
    const id = await joined(records);
    expect(await recordOf(records)).not.toHaveProperty('tenant');
    expect(await joined(records, { expected: { tenant: first } })).toBe(id);
    expect(await recordOf(records)).toEqual({ format: 1, deploymentId: id, marked: true, tenant: first });
    await expect(joined(records, { expected: { tenant: second } })).rejects.toMatchObject({ tenant: 'one' });
  });

  it.each([
    ['that has it first', {}],
    ['that accepts it', { tenant: first }],
  ])('is not given to a Tenant %s while it is read-only, since a copy reads its records', async (_how, began) => {
    const records = new MemoryRecordStore();
    const id = await joined(records, { expected: began });
    const before = (await records.get(deploymentKey))?.value;
    await setReadOnly(records, true);
    expect(await joined(records, { expected: { tenant: second, accepted: id } })).toBe(id);
    expect((await records.get(deploymentKey))?.value).toEqual(before);
    await setReadOnly(records, false);
    await joined(records, { expected: { tenant: second, accepted: id } });
    expect(await recordOf(records)).toMatchObject({ tenant: second });
  });

  it('is served by a server without an operator too, and stays that of its Tenant', async () => {
    const records = new MemoryRecordStore();
    const id = await joined(records, { expected: { tenant: first } });
    expect(await joined(records)).toBe(id);
    expect(await recordOf(records)).toMatchObject({ tenant: first });
  });

  it('is not given to a Tenant whose bodies are those of another deployment', async () => {
    const records = new MemoryRecordStore();
    await joined(records);
    await joined(new MemoryRecordStore(), { blobs: join(base.path, 'others') });
    const blobs = join(base.path, 'others');
    await expect(joined(records, { blobs, expected: { tenant: first } })).rejects.toThrow(/and the blobs at/);
    expect(await recordOf(records)).not.toHaveProperty('tenant');
  });

  it.each([{}, { name: 'demo', uid: '' }, ''])(
    'needs a newer server where the records name it as %j',
    async (tenant) => {
      const records = new MemoryRecordStore();
      const value = Buffer.from(JSON.stringify({ format: 1, deploymentId: randomUUID(), marked: false, tenant }));
      await records.commit({ id: commitId(), put: [{ key: deploymentKey, value }] });
      await expect(joined(records, { expected: { tenant: first } })).rejects.toThrow(
        /name their Tenant in a form that this server does not know: start the newer server that wrote them/,
      );
    },
  );
});

describe('stores that do not belong together', () => {
  it('are refused where both have a deployment', async () => {
    const [first, second] = [new MemoryRecordStore(), new MemoryRecordStore()];
    await joined(first);
    await joined(second, { blobs: join(base.path, 'others') });
    await expect(joined(second)).rejects.toThrow(/belong to the deployment .* and the blobs at .* to /);
    await expect(joined(second)).rejects.toMatchObject({ code: 'deployment' });
  });

  it('are refused where the records are new', async () => {
    await joined(new MemoryRecordStore());
    await expect(joined(new MemoryRecordStore())).rejects.toThrow(/and the records at .* are new/);
  });

  it('make one of two deployments that race for a folder wait in vain', async () => {
    const results = await Promise.allSettled([joined(new MemoryRecordStore()), joined(new MemoryRecordStore())]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('a folder that is not mounted', () => {
  it('is waited for, and nothing is put in its place', async () => {
    const records = new MemoryRecordStore();
    await joined(records);
    await rm(markerFile());
    await expect(joined(records)).rejects.toThrow(StoreError);
    await expect(joined(records)).rejects.toThrow('Is the folder mounted?');
    expect(await readdir(folder)).toEqual([]);
  });

  it('may have been moved by hand, and be marked by hand', async () => {
    const records = new MemoryRecordStore();
    const deploymentId = await joined(records);
    const blobs = join(base.path, 'moved');
    await writeFile(join(blobs, 'coffer-deployment.json'), JSON.stringify({ deploymentId }));
    expect(await joined(records, { blobs })).toBe(deploymentId);
  });
});

describe('records that are lost', () => {
  it.each(['expected', 'accepted'] as const)('are waited for beside the bodies of the %s deployment', async (which) => {
    const id = await joined(new MemoryRecordStore());
    const empty = new MemoryRecordStore();
    const waits = { code: 'other-store', store: nextDeployment(id) };
    await expect(joined(empty, { expected: { [which]: id } })).rejects.toMatchObject(waits);
    const without = { blobs: join(base.path, 'moved'), hasBodies: () => Promise.resolve(true) };
    await expect(joined(empty, { ...without, expected: { [which]: id } })).rejects.toMatchObject(waits);
    expect(await empty.get(deploymentKey)).toBeUndefined();
  });

  it('are not replaced by an accepted empty store beside the bodies of a deployment', async () => {
    const expected = await joined(new MemoryRecordStore());
    const empty = new MemoryRecordStore();
    const file = { expected, accepted: nextDeployment(expected) };
    await expect(joined(empty, { expected: file })).rejects.toThrow(/or other blobs/);
    expect(await empty.get(deploymentKey)).toBeUndefined();
  });

  it('are not made anew beside the bodies of a deployment, in a data folder either', async () => {
    const id = await joined(new MemoryRecordStore(), { sameFolder: true });
    const empty = new MemoryRecordStore();
    await expect(joined(empty, { sameFolder: true, newId: id })).rejects.toThrow(/the records are lost/);
    expect(await empty.get(deploymentKey)).toBeUndefined();
  });

  it('are not made anew beside bodies without a marker', async () => {
    const empty = new MemoryRecordStore();
    const places = { records: '', blobs: '' };
    const marker = folderMarker(folder);
    const joining = (bodies: boolean) =>
      joinDeployment({ records: empty, marker, places, sameFolder: true, hasBodies: () => Promise.resolve(bodies) });
    await expect(joining(true)).rejects.toThrow(/the records are lost/);
    expect(await readdir(folder)).toEqual([]);
    await joining(false);
  });
});

describe('records of a version before', () => {
  it('have their blobs in their data folder', async () => {
    await joined(await withBucket(), { sameFolder: true });
    expect(await readdir(folder)).toEqual(['coffer-deployment.json']);
  });

  it('are refused with blobs elsewhere', async () => {
    await expect(joined(await withBucket())).rejects.toThrow('whose blobs are in their data folder');
  });
});

it('refuses what a newer server wrote', async () => {
  const records = new MemoryRecordStore();
  const value = Buffer.from(JSON.stringify({ format: 5, deploymentId: 'in another form' }));
  await records.commit({ id: commitId(), put: [{ key: deploymentKey, value }] });
  await expect(joined(records)).rejects.toThrow(/have format 5, this server knows formats up to 4/);
});

it('refuses records that use what this server does not know, by its name', async () => {
  const records = new MemoryRecordStore();
  const value = encodeDeployment({ deploymentId: randomUUID(), marked: true, uses: ['tables', 'drives'] });
  await records.commit({ id: commitId(), put: [{ key: deploymentKey, value }] });
  await expect(joined(records)).rejects.toThrow(
    /use tables, drives, which this server does not know: start the newer server that wrote them/,
  );
});

it('keeps fields of a newer server in the record that it writes back', async () => {
  const records = new MemoryRecordStore();
  const value = Buffer.from(JSON.stringify({ format: 1, deploymentId: randomUUID(), marked: false, later: { at: 1 } }));
  await records.commit({ id: commitId(), put: [{ key: deploymentKey, value }] });
  await joined(records);
  const written = decodeDeployment((await records.get(deploymentKey))?.value ?? Buffer.of(), 'here');
  expect(written).toMatchObject({ marked: true, later: { at: 1 } });
});

describe('records that a running server meets', () => {
  const own = '5e9f0e0a-1c1f-4a43-8f0c-6a5d1b2f3c4d';
  const other = '0d9c4b6e-2a7a-4a8e-9a55-3b1f8c7d6e5f';

  it('are those of its deployment', () => {
    expect(() => requireDeployment(encodeDeployment({ deploymentId: own, marked: true }), own, 'here')).not.toThrow();
  });

  it.each([
    [
      'of another deployment',
      encodeDeployment({ deploymentId: other, marked: true }),
      `belong to the deployment ${other}`,
    ],
    ['new', undefined, 'name no deployment'],
    ['damaged', Buffer.from('{'), 'name no deployment'],
  ])('are refused where they are %s', (_which, value, words) => {
    expect(() => requireDeployment(value, own, 'PostgreSQL at db')).toThrow(
      expect.objectContaining({ code: 'unreachable', message: expect.stringContaining(words) as unknown }),
    );
  });
});
