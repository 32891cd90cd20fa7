import { expect, it } from 'vitest';
import type { ReplicateDefinition } from '../../server/maintenance/batch/replicate-definition.ts';
import { batchRemotes } from '../../server/replication/batch-remote.ts';
import { put } from '../support/objects/test-layer.ts';
import { bucket, LinkedServer, type TestClock } from '../support/replication/linked-servers.ts';

const key = 'key';
const definition = {
  type: 'replicate',
  direction: 'send',
  bucket,
  remote: { type: 'minio', bucket, endpoint: 'two:9000', secure: false, path: 'on', accessKey: 'a' },
} as ReplicateDefinition;

/** Two servers, and a batch job that sends a version of the first to the second. */
async function pushing() {
  const clock: TestClock = { now: Date.UTC(2027, 0, 1) };
  const [one, two] = [await LinkedServer.start('one', clock, false), await LinkedServer.start('two', clock, false)];
  const { signal } = new AbortController();
  const client = { ...one.clientOf(two), open: () => Promise.reject(new Error('the job reads nothing there')) };
  const remote = batchRemotes(one.calls.layer, () => client)(definition, { secretKey: 's' }, signal);
  const send = async (versionId = 'null') => {
    clock.now += 1_000;
    const version = (await listed(one)).find((version) => version.versionId === versionId);
    if (version === undefined) throw new Error(`no version ${versionId}`);
    return remote.send(version, key, undefined);
  };
  return { clock, one, two, send };
}

async function listed({ calls: { layer } }: LinkedServer) {
  const asked = { bucket, prefix: '', delimiter: '', keyMarker: '', versionIdMarker: undefined, limit: 100 };
  return (await layer.listObjectVersions(asked)).versions;
}

async function asNull({ calls: { layer } }: LinkedServer, text: string | undefined): Promise<void> {
  await layer.putBucketVersioning(bucket, { status: 'Suspended' });
  if (text === undefined) await layer.deleteObject(bucket, key);
  else await layer.putObject(put(bucket, key, text));
  await layer.putBucketVersioning(bucket, { status: 'Enabled' });
}

const textOf = async ({ calls }: LinkedServer, query = '') =>
  (await calls.call('GET', `/${bucket}/${key}${query}`)).body;

it('sends a null version as the null version where the target has none', async () => {
  const { one, two, send } = await pushing();
  await asNull(one, 'pushed');
  expect([await send(), await send()]).toEqual(['changed', 'same']);
  expect(await textOf(two, '?versionId=null')).toBe('pushed');
});

it.each(['older', 'newer'])('adds a version where the target has another null version, which is %s', async (age) => {
  const { clock, one, two, send } = await pushing();
  for (const [server, text] of [
    [two, 'own'],
    [one, 'pushed'],
    ...(age === 'newer' ? ([[two, 'own']] as const) : []),
  ] as const) {
    await asNull(server, text);
    clock.now += 1_000;
  }
  expect([await send(), await send()]).toEqual(['changed', 'same']);
  expect([await textOf(two, '?versionId=null'), await textOf(two)]).toEqual(['own', 'pushed']);
});

it('fails, with the reason, for a noncurrent null version where the target has another one', async () => {
  const { clock, one, two, send } = await pushing();
  await asNull(two, 'own');
  clock.now += 1_000;
  await asNull(one, 'pushed');
  clock.now += 1_000;
  await one.calls.layer.putObject(put(bucket, key, 'newest'));
  await expect(send()).rejects.toThrow('the target has another null version of key');
  expect((await listed(two)).map(({ versionId }) => versionId)).toEqual(['null']);
  expect(await textOf(two)).toBe('own');
});

it('sends no null delete marker in the place of another null version', async () => {
  const { clock, one, two, send } = await pushing();
  await asNull(two, 'own');
  clock.now += 1_000;
  await asNull(one, undefined);
  await expect(send()).rejects.toThrow('the target has another null version of key');
  expect(await textOf(two)).toBe('own');
});

it('sends no null version in the place of a null delete marker', async () => {
  const { clock, one, two, send } = await pushing();
  await asNull(two, undefined);
  clock.now += 1_000;
  await asNull(one, 'pushed');
  expect(await send()).toBe('changed');
  expect((await listed(two)).map(({ versionId, deleteMarker }) => [versionId === 'null', deleteMarker])).toEqual([
    [false, false],
    [true, true],
  ]);
});
