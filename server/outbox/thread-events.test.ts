import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { NotificationRule } from '../../protocol/s3/bucket-notification.ts';
import { put, testLayer } from '../../test/support/objects/test-layer.ts';
import { outboxKeys } from '../objects/events/outbox.ts';
import { commitOnce } from '../store/commits.ts';
import { encodeState, readQueues } from './queue-state.ts';
import { measureQueue } from './read-queue.ts';
import { ThreadEvents } from './thread-events.ts';

const target = '_:webhook';
const rule: NotificationRule = {
  id: 'all',
  arn: 'arn:minio:sqs::_:webhook',
  target,
  events: ['s3:ObjectCreated:*', 's3:ObjectAccessed:*'],
};

/** Threads of one server, each with its knowledge of the queues. Times are milliseconds of a clock that the test sets. */
async function threads(count: number) {
  const time = { now: 1_000_000 };
  const first = testLayer();
  const { records } = first;
  const log = { warn: () => undefined };
  const clock = () => time.now;
  const made = Array.from({ length: count }, () => {
    const events = new ThreadEvents({ records, random: randomBytes, clock, wallClock: clock, log });
    return { events, ...testLayer({ records, events }) };
  });
  await first.layer.createBucket('bucket', { location: '' });
  await first.layer.putBucketNotification('bucket', [rule], { test: false });
  const setState = async (fullSince: number | undefined) => {
    const state = { events: 0, bytes: 0, delivered: 0, failures: 0, ...(fullSince !== undefined && { fullSince }) };
    await commitOnce(records, { put: [{ key: outboxKeys.state(target), value: encodeState(state) }] }, randomBytes);
  };
  const queued = async () => (await measureQueue(records, target, new AbortController().signal)).events;
  const dropped = async () => {
    for (const { events } of made) await events.flush();
    return (await readQueues(records))[0]?.dropped;
  };
  return { time, layers: made.map(({ layer }) => layer), setState, queued, dropped };
}

describe('the events of a thread', () => {
  it('are queued again as soon as a queue is not full any more, also the first one of each thread', async () => {
    const { time, layers, setState, queued, dropped } = await threads(3);
    await setState(0);
    for (const layer of layers) await layer.putObject(put('bucket', 'a', '1'));
    time.now += 5_000;
    for (const layer of layers) await layer.putObject(put('bucket', 'a', '2'));
    const before = [await queued(), await dropped()];
    await setState(undefined);
    // A thread may rest for long after its last event.
    time.now += 3_600_000;
    for (const layer of layers) await layer.putObject(put('bucket', 'a', '3'));
    expect([(await queued()) - (before[0] ?? 0), await dropped()]).toEqual([3, before[1]]);
  });

  it('are dropped and queued by all threads alike, so that the gap has one beginning and one end', async () => {
    const { time, layers, setState, queued } = await threads(2);
    const took: number[][] = [];
    const step = async () => {
      const taken: number[] = [];
      for (const layer of layers) {
        const before = await queued();
        await layer.putObject(put('bucket', 'a', 'x'));
        taken.push((await queued()) - before);
      }
      took.push(taken);
    };
    const [first] = layers;
    await first?.putObject(put('bucket', 'a', 'x'));
    time.now += 600;
    await setState(time.now);
    // The second thread has asked for nothing yet, and the first one knows what it read before.
    for (let at = 0; at < 12; at += 1) {
      await step();
      time.now += 250;
      if (at === 8) await setState(undefined);
    }
    expect(took.every(([one, other]) => one === other)).toBe(true);
    const text = took.map(([one]) => one).join('');
    expect(text).toMatch(/^1+0+1+$/);
  });

  it('of reads are queued again, too', async () => {
    const { time, layers, setState, queued, dropped } = await threads(1);
    await layers[0]?.putObject(put('bucket', 'a', '1'));
    await setState(0);
    time.now += 5_000;
    await layers[0]?.headObject('bucket', 'a', { access: 'Head' });
    await setState(undefined);
    time.now += 3_600_000;
    const before = [await queued(), await dropped()];
    await layers[0]?.headObject('bucket', 'a', { access: 'Head' });
    expect([(await queued()) - (before[0] ?? 0), await dropped()]).toEqual([1, before[1]]);
  });
});
