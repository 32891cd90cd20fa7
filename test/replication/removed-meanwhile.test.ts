import { describe, expect, it } from 'vitest';
import { put } from '../support/objects/test-layer.ts';
import { bucket, LinkedServer, type TestClock } from '../support/replication/linked-servers.ts';

const key = 'key';

/** Two servers that replicate to each other, and have the same version. The clients of the second remove it while the link is cut. */
async function removedOnOneSide(what: 'version' | 'marker' = 'version') {
  const clock: TestClock = { now: Date.UTC(2027, 0, 1) };
  const [one, two] = [await LinkedServer.start('one', clock), await LinkedServer.start('two', clock)];
  await one.replicateTo(two);
  await two.replicateTo(one);
  const exchange = async () => {
    for (;;) {
      const delivered = (await one.deliver()) + (await two.deliver());
      if (delivered === 0) return;
      clock.now += 1;
    }
  };
  const { layer } = one.calls;
  await layer.putObject(put(bucket, key, 'first'));
  clock.now += 5;
  const made = what === 'marker' ? await layer.deleteObject(bucket, key) : await layer.putObject(put(bucket, key, 'x'));
  await exchange();
  two.cut.add('one');
  clock.now += 5;
  const { versionId = '' } = made;
  await two.calls.layer.deleteObject(bucket, key, { versionId });
  return { clock, one, two, versionId, exchange };
}

async function listed({ calls: { layer } }: LinkedServer) {
  const asked = { bucket, prefix: '', delimiter: '', keyMarker: '', versionIdMarker: undefined, limit: 100 };
  return (await layer.listObjectVersions(asked)).versions.map(({ versionId }) => versionId);
}

describe('a resync', () => {
  it.each(['version', 'marker'] as const)('does not bring back a %s whose removal waits there', async (what) => {
    const { clock, one, two, versionId, exchange } = await removedOnOneSide(what);
    await one.resync(two, clock);
    while ((await one.deliver()) > 0);
    expect(await listed(two)).not.toContain(versionId);
    if (what === 'version') {
      const [arn] = ((await two.calls.layer.getBucketReplication(bucket))?.rules ?? []).map(({ target }) => target);
      const { replication } = await one.calls.layer.headObject(bucket, key, { versionId });
      expect([replication?.status, ...Object.values(replication?.targets ?? {})]).toEqual([
        'FAILED',
        expect.objectContaining({
          refused: expect.stringContaining(`was removed here, and the replication target ${arn} has not got`) as string,
        }),
      ]);
    }
    two.cut.clear();
    await exchange();
    expect(await listed(one)).toEqual(await listed(two));
    expect(await listed(one)).toHaveLength(1);
  });

  it('brings back what was removed where the removal is over', async () => {
    const { clock, one, two, versionId, exchange } = await removedOnOneSide();
    const rules = (await two.calls.layer.getBucketReplication(bucket))?.rules ?? [];
    await two.setRules(rules.map((rule) => ({ ...rule, deletes: false })));
    two.cut.clear();
    one.intercept = ({ method }) =>
      method === 'DELETE' ? { status: 204, headers: { 'x-amz-request-id': 'R' }, text: '' } : undefined;
    await exchange();
    await one.resync(two, clock);
    await exchange();
    expect(await listed(two)).toContain(versionId);
  });

  it('brings another version of the key while the removal of one waits', async () => {
    const { clock, one, two, versionId } = await removedOnOneSide();
    const [, first = ''] = await listed(one);
    await two.calls.layer.deleteObject(bucket, key, { versionId: first, replica: { marker: undefined } });
    await one.resync(two, clock);
    while ((await one.deliver()) > 0);
    expect(await listed(two)).toEqual([first]);
    expect(versionId).not.toBe(first);
  });
});

describe('what is removed', () => {
  async function arriving() {
    const { one, two, versionId } = await removedOnOneSide();
    const { lastModified } = await one.calls.layer.headObject(bucket, key, { versionId });
    const replica = { versionId, modified: lastModified };
    /** The removal gets through. */
    const exchange = async () => {
      two.cut.clear();
      await two.deliver();
    };
    return { two, layer: two.calls.layer, replica, exchange };
  }
  const upload = { bucket, key, headers: { metadata: {} } };

  it('before an upload in parts begins, refuses it', async () => {
    const { layer, replica } = await arriving();
    await expect(layer.createMultipartUpload({ ...upload, replica })).rejects.toMatchObject({
      code: 'OperationAborted',
    });
  });

  it('while an upload in parts goes on, refuses its end', async () => {
    const clock: TestClock = { now: Date.UTC(2027, 0, 1) };
    const [one, two] = [await LinkedServer.start('one', clock), await LinkedServer.start('two', clock)];
    await two.replicateTo(one);
    const { layer } = two.calls;
    const { versionId = '', lastModified } = await layer.putObject(put(bucket, key, 'text'));
    const replica = { versionId, modified: lastModified };
    const { uploadId } = await layer.createMultipartUpload({ ...upload, replica });
    const { etag } = await layer.putPart({ ...put(bucket, key, 'part'), uploadId, partNumber: 1 });
    await layer.deleteObject(bucket, key, { versionId });
    await expect(
      layer.completeMultipartUpload({ bucket, key, uploadId, parts: [{ partNumber: 1, etag }] }),
    ).rejects.toMatchObject({ code: 'OperationAborted' });
  });

  it('does not come back by a large body during which the removal gets through', async () => {
    const { two, layer, replica, exchange } = await arriving();
    const bytes = Buffer.alloc(300_000);
    const body = (async function* () {
      await exchange();
      yield bytes;
    })();
    await expect(layer.putObject(put(bucket, key, bytes, { replica, body }))).rejects.toMatchObject({
      code: 'OperationAborted',
    });
    expect(await listed(two)).not.toContain(replica.versionId);
  });
});
