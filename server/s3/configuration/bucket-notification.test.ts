import { describe, expect, it } from 'vitest';
import { testCalls } from '../../../test/support/s3-api/s3-calls.ts';
import { decodeEvent } from '../../objects/events/outbox.ts';
import { readWindow } from '../../outbox/read-queue.ts';

const target = 'A:webhook';
const arn = `arn:minio:sqs:us-east-1:${target}`;
const queue = (...events: readonly string[]) =>
  `<NotificationConfiguration><QueueConfiguration><Id>r</Id><Queue>${arn}</Queue>${events.map((name) => `<Event>${name}</Event>`).join('')}</QueueConfiguration></NotificationConfiguration>`;
const none = '<NotificationConfiguration/>';

const calls = (more: Parameters<typeof testCalls>[0] = {}) => testCalls({ notificationTargets: [target], ...more });

async function observed(...events: readonly string[]) {
  const test = await calls();
  const headers = { 'x-amz-skip-destination-validation': 'true' };
  const put = await test.call('PUT', '/bucket?notification', { body: queue(...events), headers });
  expect(put).toMatchObject({ status: 200 });
  return { ...test, queued: () => queuedEvents(test) };
}

async function queuedEvents({ records }: Pick<Awaited<ReturnType<typeof testCalls>>, 'records'>) {
  const { groups } = await readWindow(records, target, { from: undefined, limit: 100 });
  return groups.flat().map(decodeEvent);
}

describe('the notifications of a bucket', () => {
  it('are empty until they are put, and after they are cleared', async () => {
    const { call } = await calls();
    expect(await call('GET', '/bucket?notification')).toMatchObject({
      status: 200,
      body: expect.stringMatching(/<NotificationConfiguration[^>]*\/>/) as string,
    });
    await call('PUT', '/bucket?notification', { body: queue('s3:ObjectCreated:*') });
    expect(await call('GET', '/bucket?notification')).toMatchObject({
      body: expect.stringContaining(
        `<QueueConfiguration><Id>r</Id><Queue>${arn}</Queue><Event>s3:ObjectCreated:*</Event></QueueConfiguration>`,
      ) as string,
    });
    expect(await call('PUT', '/bucket?notification', { body: none })).toMatchObject({ status: 200 });
    expect((await call('GET', '/bucket?notification')).body).not.toContain('Queue');
  });

  it('send a test event to each target, unless the client skips that', async () => {
    const test = await calls();
    await test.call('PUT', '/bucket?notification', { body: queue('s3:ObjectCreated:*') });
    expect(await queuedEvents(test)).toEqual([
      expect.objectContaining({ name: 's3:TestEvent', bucket: 'bucket', key: '' }),
    ]);
    const skipping = await observed('s3:ObjectCreated:*');
    expect(await skipping.queued()).toEqual([]);
  });

  it('refuse another value of that header', async () => {
    const { call } = await calls();
    const headers = { 'x-amz-skip-destination-validation': 'maybe' };
    expect(await call('PUT', '/bucket?notification', { body: none, headers })).toMatchObject({
      status: 400,
      code: 'InvalidArgument',
    });
  });

  it.each([
    ['GET', 's3:GetBucketNotification'],
    ['PUT', 's3:PutBucketNotification'],
  ])('%s needs %s, and reads nothing of the body without it', async (method, action) => {
    const { call } = await calls({ authorize: (request) => request.action !== action });
    expect(await call(method, '/bucket?notification', { body: 'no XML' })).toMatchObject({ status: 403, bytesRead: 0 });
  });

  it.each(['GET', 'PUT'])('%s of a bucket that does not exist is NoSuchBucket', async (method) => {
    const { call } = await calls();
    expect(await call(method, '/absent?notification', { body: none })).toMatchObject({ code: 'NoSuchBucket' });
  });
});

describe('events', () => {
  const tags = '<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>';

  it.each([
    ['s3:ObjectCreated:Put', 'PUT', '/bucket/new', 'x'],
    ['s3:ObjectTagging:Put', 'PUT', '/bucket/a?tagging', tags],
    ['s3:ObjectCreated:PutTagging', 'PUT', '/bucket/a?tagging', tags],
    ['s3:ObjectTagging:Delete', 'DELETE', '/bucket/a?tagging', ''],
    ['s3:ObjectCreated:DeleteTagging', 'DELETE', '/bucket/a?tagging', ''],
    ['s3:ObjectRemoved:Delete', 'DELETE', '/bucket/a', ''],
    ['s3:ObjectAccessed:Get', 'GET', '/bucket/a', ''],
    ['s3:ObjectAccessed:Head', 'HEAD', '/bucket/a', ''],
  ])('%s comes of %s %s, with the caller', async (name, method, path, body) => {
    const { call, queued } = await observed(name);
    await call('PUT', '/bucket/a', { body: 'x' });
    const before = (await queued()).length;
    expect((await call(method, path, { body })).status).toBeLessThan(300);
    const events = (await queued()).slice(before);
    const origin = { principal: 'someone', address: '10.0.0.1', requestId: 'R' };
    expect(events).toEqual([expect.objectContaining({ name, origin: expect.objectContaining(origin) as object })]);
  });

  it.each([
    ['GET', { range: 'bytes=9-' }, ''],
    ['HEAD', { range: 'bytes=9-' }, ''],
    ['GET', {}, '?partNumber=2'],
  ])('do not come of a %s that fails for %j%s', async (method, headers, query) => {
    const { call, queued } = await observed('s3:ObjectAccessed:*');
    await call('PUT', '/bucket/a', { body: 'x' });
    expect((await call(method, `/bucket/a${query}`, { headers })).status).toBe(416);
    expect(await queued()).toEqual([]);
    await call(method, '/bucket/a', { headers: { range: 'bytes=0-0' } });
    expect(await queued()).toHaveLength(1);
  });

  it('Copy comes of a copy, and its source is not accessed', async () => {
    const { call, queued } = await observed('s3:ObjectCreated:Copy', 's3:ObjectAccessed:*');
    await call('PUT', '/bucket/a', { body: 'x' });
    await call('PUT', '/bucket/b', { headers: { 'x-amz-copy-source': '/bucket/a' } });
    expect(await queued()).toEqual([expect.objectContaining({ name: 's3:ObjectCreated:Copy', key: 'b' })]);
  });

  it('DeleteMarkerCreated comes of a deletion in a bucket with versions, with the version of the marker', async () => {
    const { call, queued } = await observed('s3:ObjectRemoved:*');
    await call('PUT', '/bucket?versioning', {
      body: '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>',
    });
    await call('PUT', '/bucket/a', { body: 'x' });
    const deleted = await call('DELETE', '/bucket/a');
    expect(await queued()).toEqual([
      expect.objectContaining({
        name: 's3:ObjectRemoved:DeleteMarkerCreated',
        versionId: deleted.headers['x-amz-version-id'],
      }),
    ]);
  });

  it('do not come of the deletion of what is absent', async () => {
    const { call, queued } = await observed('s3:ObjectRemoved:*');
    await call('DELETE', '/bucket/absent');
    expect(await queued()).toEqual([]);
  });
});

describe('listening', () => {
  it.each([
    ['an unknown event', '/bucket?events=s3:Nothing', 'InvalidArgument'],
    ['two prefixes', '/bucket?events=s3:ObjectCreated:*&prefix=a&prefix=b', 'InvalidArgument'],
    ['a ping that is no number', '/bucket?events=s3:ObjectCreated:*&ping=x', 'InvalidArgument'],
    ['an absent bucket', '/absent?events=s3:ObjectCreated:*', 'NoSuchBucket'],
  ])('refuses %s', async (_what, path, code) => {
    const { call } = await calls();
    expect(await call('GET', path)).toMatchObject({ code });
  });

  it.each([
    ['/bucket?events=x', 's3:ListenBucketNotification', 'bucket'],
    ['/?events=x', 's3:ListenNotification', ''],
  ])('%s needs %s', async (path, action, resource) => {
    const asked: object[] = [];
    const { call } = await calls({
      authorize: (request) => {
        asked.push({ action: request.action, resource: request.resource });
        return false;
      },
    });
    expect(await call('GET', path)).toMatchObject({ status: 403 });
    expect(asked).toEqual([{ action, resource }]);
  });
});
