import { expect, it } from 'vitest';
import type { BucketList } from '../observability/metrics/bucket-list.ts';
import { watchBucketList } from './bucket-list-watch.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

it('reads the list at once and where it is asked, and none while the records are away', async () => {
  const lists: BucketList[] = [];
  const pauses: { readonly signal: AbortSignal; readonly end: () => void }[] = [];
  let away = false;
  let question = 7;
  const watch = watchBucketList({
    buckets: () =>
      away ? Promise.reject(new Error('away')) : Promise.resolve([{ name: `at-${question}`, created: new Date(0) }]),
    questions: { last: () => question },
    onList: (list) => lists.push(list),
    pause: (_ms, signal) =>
      new Promise((resolve) => {
        pauses.push({ signal, end: () => resolve(undefined) });
        signal.addEventListener('abort', () => resolve(undefined));
      }),
  });
  await settled();
  expect(lists).toEqual([{ names: ['at-7'], answers: 7 }]);

  // Asked in the pause that keeps two reads apart: the list is read after it.
  question = 8;
  watch.ask();
  await settled();
  expect(lists).toHaveLength(1);
  away = true;
  pauses.at(-1)?.end();
  await settled();
  expect(lists).toHaveLength(1);
  away = false;
  watch.ask();
  pauses.at(-1)?.end();
  await settled();
  expect(lists.at(-1)).toEqual({ names: ['at-8'], answers: 8 });
  await watch.stop();
});
