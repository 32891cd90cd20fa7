import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished, vi } from 'vitest';
import { outboxKeys, uniquePart } from '../../server/objects/events/outbox.ts';
import { encodeHeld } from '../../server/outbox/held-records.ts';
import { queuedTargets } from '../../server/outbox/read-queue.ts';
import { deliverReplication } from '../../server/replication/deliver-replication.ts';
import { commitOnce } from '../../server/store/commits.ts';
import { within } from '../../server/store/keys.ts';
import type { RecordStore } from '../../server/store/record-store.ts';
import { put } from '../support/objects/test-layer.ts';
import { bucket, LinkedServer, type TestClock } from '../support/replication/linked-servers.ts';

const waiting = { timeout: 180_000, interval: 20 };

/** A server with changes in the queue of a target that is removed, and the delivery that finds them. */
async function withRemovedTarget(objects: number) {
  const clock: TestClock = { now: Date.UTC(2027, 0, 1) };
  const [one, two] = [await LinkedServer.start('one', clock), await LinkedServer.start('two', clock)];
  await one.replicateTo(two);
  for (let number = 0; number < objects; number += 1) {
    await one.calls.layer.putObject(put(bucket, `key-${number}`, 'text'));
  }
  const { layer, records } = one.calls;
  const stopping = new AbortController();
  let looks = 0;
  const all = () => {
    looks += 1;
    return Promise.resolve([]);
  };
  const deliver = (store: RecordStore = records) => {
    const done = deliverReplication({
      records: store,
      objects: layer,
      targets: { all } as never,
      signal: stopping.signal,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      isOver: () => false,
      reads: () => Promise.resolve(),
    });
    onTestFinished(async () => {
      stopping.abort();
      await done.catch(() => undefined);
    });
    return done;
  };
  return { one, two, layer, records, deliver, looks: () => looks };
}

it('removes many changes of a removed target in few commits', async () => {
  const { one, two, layer, records, deliver } = await withRemovedTarget(200);
  let commits = 0;
  const counted = new Proxy(records, {
    get(target, name) {
      if (name === 'commit') commits += 1;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  void deliver(counted);
  await vi.waitFor(async () => expect(await one.queued(two)).toEqual([]), waiting);
  expect(commits).toBeLessThan(20);
  expect((await layer.headObject(bucket, 'key-7')).replication).toBeUndefined();
});

it('removes a change that it cannot read, and the others', async () => {
  const { one, two, records, deliver } = await withRemovedTarget(3);
  const [entry] = await one.queued(two);
  const [name = ''] = await queuedTargets(records);
  const object = { bucket, key: 'other', time: 1 };
  await commitOnce(
    records,
    {
      put: [
        { key: outboxKeys.event(name, object, uniquePart(object, randomBytes)), value: Buffer.from('damaged') },
        { key: entry!.key, value: Buffer.from('damaged') },
      ],
    },
    randomBytes,
  );
  let failure: unknown;
  deliver().catch((error: unknown) => (failure = error));
  await vi.waitFor(async () => expect([failure, await one.queued(two)]).toEqual([undefined, []]), waiting);
});

it('removes the records of the changes that it had refused', async () => {
  const { one, two, records, deliver } = await withRemovedTarget(3);
  const put = (await one.queued(two)).map(({ key }) => ({
    key: outboxKeys.held(key),
    value: encodeHeld({ since: 1, error: 'no' }),
  }));
  await commitOnce(records, { put }, randomBytes);
  const [name = ''] = await queuedTargets(records);
  void deliver();
  await vi.waitFor(async () => {
    expect(await one.queued(two)).toEqual([]);
    expect(await Array.fromAsync(records.scan(within('outbox-held', name)))).toEqual([]);
  }, waiting);
});

it('looks at the other targets while it removes such a queue', async () => {
  const { records, deliver, looks } = await withRemovedTarget(1);
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const stuck = new Proxy(records, {
    get(target, name) {
      if (name === 'commit') return () => promise.then(() => ({ kind: 'conflict' }));
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  void deliver(stuck);
  try {
    await vi.waitFor(() => expect(looks()).toBeGreaterThan(2), waiting);
  } finally {
    resolve(undefined);
  }
});
