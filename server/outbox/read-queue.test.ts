import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { namedPart, outboxKeys, uniquePart } from '../objects/events/outbox.ts';
import { commitOnce } from '../store/commits.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { readWindow } from './read-queue.ts';

const object = { bucket: 'bucket', key: 'key' };

it.each([
  ['without names', () => false],
  ['of which some have names', (n: number) => n % 4 !== 0],
])('returns the oldest events of an object that has more of them than a window, %s', async (_, isNamed) => {
  const records = new MemoryRecordStore();
  for (let n = 0; n < 5_000; n += 1) {
    const at = { time: 1_000 + n, bucket: 'bucket' };
    const unique = isNamed(n) ? namedPart(at, `name ${n}`, randomBytes) : uniquePart(at, randomBytes);
    const put = [{ key: outboxKeys.event('target', object, unique), value: Buffer.from(String(n)) }];
    await commitOnce(records, { put }, randomBytes);
  }
  const { groups } = await readWindow(records, 'target', { from: undefined, limit: 1_000 });
  const read = groups.flat().map(({ value }) => Number(value));
  expect(read.length).toBeGreaterThanOrEqual(1_000);
  expect(read).toEqual(Array.from(read, (_event, at) => at));
});
