import { describe, expect, it, vi } from 'vitest';
import { body, testLayer } from '../../../test/support/objects/test-layer.ts';
import type { BucketLogging } from '../../../protocol/s3/bucket-logging.ts';
import { type FinishedRequest, RequestEvents } from '../../http/contract/request.ts';
import { readLoggings } from '../../objects/buckets/bucket-logging.ts';
import { AccessLogs } from './access-logs.ts';

const now = Date.UTC(2026, 10, 23, 1, 2, 3);

function finished(bucket: string, more: Partial<FinishedRequest> = {}): FinishedRequest {
  return {
    request: {
      requestId: 'R',
      method: 'GET',
      rawPath: `/${bucket}/k`,
      rawQuery: '',
      headers: { host: 'h' },
      remoteAddress: '192.0.2.1',
      secure: false,
    },
    api: 's3',
    operation: 'GetObject',
    bucket,
    key: 'k',
    decisions: [],
    decisionsLeftOut: 0,
    status: 200,
    outcome: 'answered',
    responseHeaders: [],
    startedAt: now,
    ms: 1,
    received: 1,
    sent: 1,
    ...more,
  };
}

async function logsTest(logging?: Partial<BucketLogging>, maxBytes?: number) {
  const { layer, records } = testLayer();
  for (const bucket of ['source', 'other', 'logs']) await layer.createBucket(bucket, { location: '' });
  const events = new RequestEvents();
  const log = { warn: vi.fn() };
  const logs = new AccessLogs({
    events,
    objects: layer,
    loggings: () => readLoggings(records),
    region: 'us-east-1',
    log,
    clock: () => now,
    random: (size) => Buffer.alloc(size, 0xab),
    deliveryIntervalMs: 60_000,
    ...(maxBytes !== undefined && { maxBytes }),
  });
  if (logging !== undefined) {
    await layer.putBucketLogging('source', { targetBucket: 'logs', targetPrefix: 'p/', ...logging });
  }
  await logs.look();
  const delivered = async () => {
    await logs.deliver();
    const { objects } = await layer.listObjects({ bucket: 'logs', prefix: '', delimiter: '', after: '', limit: 10 });
    return Promise.all(objects.map(async ({ key }) => [key, String(await body(layer, 'logs', key))] as const));
  };
  return { layer, events, log, logs, delivered };
}

describe('access logs', () => {
  it('observe no request where no bucket has them, and stop where none has them any more', async () => {
    const { layer, events, logs } = await logsTest();
    expect(events.hasSubscribers).toBe(false);
    await layer.putBucketLogging('source', { targetBucket: 'logs', targetPrefix: '' });
    await logs.look();
    expect(events.hasSubscribers).toBe(true);
    await layer.putBucketLogging('source', undefined);
    await logs.look();
    expect(events.hasSubscribers).toBe(false);
  });

  it('have a line for each request to the bucket, and none for others', async () => {
    const { events, delivered } = await logsTest({});
    for (const bucket of ['source', 'other', 'source']) events.emit(finished(bucket));
    const [[key, text] = ['', ''], ...more] = await delivered();
    expect(more).toEqual([]);
    expect(key).toBe('p/2026-11-23-01-02-03-ABABABABABABABAB');
    expect(text.split('\n').map((line) => line.split(' ')[1])).toEqual(['source', 'source', undefined]);
    expect(await delivered()).toHaveLength(1);
  });

  it('have the bytes that were sent for each answer, in the order of the answers', async () => {
    const { events, delivered } = await logsTest({});
    let sent = 100;
    const request = { ...finished('source').request, rawPath: '/' };
    const answer = (more: Partial<FinishedRequest>) =>
      Object.defineProperty(finished('source', { ...more, request }), 'sent', { get: () => sent });
    events.emit(answer({ responseHeaders: ['content-length', '7'] }));
    events.emit(answer({}));
    sent = 200;
    events.emit(answer({ outcome: 'broken', responseHeaders: ['content-length', '7'] }));
    sent = 300;
    const lines = (await delivered())[0]?.[1].trimEnd().split('\n');
    expect(lines?.map((line) => line.match(/"[^"]*"|\[[^\]]*\]|[^ ]+/g)?.[11])).toEqual(['7', '100', '200']);
  });

  it.each([
    [undefined, 'p/2026-11-23-01-02-03-'],
    ['DeliveryTime', 'p/000000000000/us-east-1/source/2026/11/23/2026-11-23-01-02-03-'],
    ['EventTime', 'p/000000000000/us-east-1/source/2026/11/22/2026-11-22-00-00-00-'],
  ] as const)('are partitioned by %s', async (partitionBy, start) => {
    const { events, delivered } = await logsTest(partitionBy === undefined ? {} : { partitionBy });
    events.emit(finished('source', { startedAt: now - 86_400_000 }));
    expect((await delivered())[0]?.[0].startsWith(start)).toBe(true);
  });

  it('keep the lines that could not be delivered, and deliver them later', async () => {
    const { layer, events, log, delivered } = await logsTest({});
    await layer.putBucketQuota('logs', 1);
    events.emit(finished('source', { operation: 'First' }));
    expect(await delivered()).toEqual([]);
    expect(log.warn).toHaveBeenCalledOnce();
    events.emit(finished('source', { operation: 'Second' }));
    await layer.putBucketQuota('logs', undefined);
    expect((await delivered())[0]?.[1]).toMatch(/FIRST[^]*SECOND/);
  });

  it('try the lines of a full object again at the next timed delivery, not at each further line', async () => {
    const { layer, events, log, delivered } = await logsTest({});
    await layer.putBucketQuota('logs', 1);
    const long = 'x'.repeat(8_192);
    const headers = { host: long, referer: long, 'user-agent': long };
    const request = { ...finished('source').request, headers };
    for (let at = 0; at < 250; at += 1) events.emit(finished('source', { request }));
    await delivered();
    // The full object, and the timed delivery.
    expect(log.warn).toHaveBeenCalledTimes(2);
    for (let at = 0; at < 5; at += 1) events.emit(finished('source'));
    await delivered();
    expect(log.warn).toHaveBeenCalledTimes(3);
    await layer.putBucketQuota('logs', undefined);
    expect((await delivered())[0]?.[1].split('\n')).toHaveLength(256);
  });

  it('drop the lines of a target that is gone', async () => {
    const { layer, events, log, delivered } = await logsTest({});
    await layer.deleteBucket('logs');
    events.emit(finished('source'));
    await delivered().catch(() => undefined);
    await layer.createBucket('logs', { location: '' });
    expect(await delivered()).toEqual([]);
    expect(log.warn).toHaveBeenCalledOnce();
  });

  it('leave out lines above their bound, and say how many', async () => {
    const { events, log, delivered } = await logsTest({}, 300);
    for (let at = 0; at < 5; at += 1) events.emit(finished('source'));
    const [[, text] = ['', '']] = await delivered();
    const kept = text.split('\n').length - 1;
    expect(kept).toBeLessThan(5);
    expect(log.warn).toHaveBeenCalledWith({ lines: 5 - kept }, expect.any(String));
  });

  it('are delivered at the end', async () => {
    const { events, logs, layer } = await logsTest({});
    events.emit(finished('source'));
    await logs.close();
    const { objects } = await layer.listObjects({ bucket: 'logs', prefix: '', delimiter: '', after: '', limit: 10 });
    expect(objects).toHaveLength(1);
  });

  it('need a target that is there', async () => {
    const { layer } = await logsTest();
    await expect(layer.putBucketLogging('source', { targetBucket: 'none', targetPrefix: '' })).rejects.toMatchObject({
      code: 'InvalidTargetBucketForLogging',
    });
  });
});
