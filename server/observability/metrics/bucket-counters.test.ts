import { describe, expect, it } from 'vitest';
import { BucketCounters, bucketCounterMemory, keptMs, otherBuckets, type BucketSums } from './bucket-counters.ts';
import { BucketQuestions, listedBuckets, maxListedBuckets } from './bucket-list.ts';

const operations = ['GetObject', 'PutObject'];
const counted = { outcome: 200, firstByteSeconds: 0.003, received: 10, sent: 20 } as const;

/** A server of some threads and the buckets of its records, by their age. */
function server(threads: number, buckets: string[] = []) {
  const memory = bucketCounterMemory(threads);
  const questions = new BucketQuestions(memory);
  let now = 1_000;
  let asked = 0;
  const all = Array.from(
    { length: threads },
    (_, thread) => new BucketCounters(memory, thread, operations, { ask: () => asked++, clock: () => now }),
  );
  const read = () => ({
    names: listedBuckets(buckets.map((name, at) => ({ name, created: new Date(at) }))),
    answers: questions.last(),
  });
  const server = {
    threads: all,
    buckets,
    questions,
    asked: () => asked,
    read,
    tell: (list = read()) => all.forEach((thread) => thread.takeList(list)),
    wait: (ms: number) => (now += ms),
    sums: () => all[0]?.sums() ?? [],
  };
  server.tell();
  return server;
}

function request(counters: BucketCounters, bucket: string, more: Partial<Parameters<BucketCounters['ended']>[3]> = {}) {
  counters.ended(bucket, 'GetObject', counters.began(bucket, 'GetObject'), { ...counted, ...more });
}

const totals = (sums: readonly BucketSums[]) =>
  Object.fromEntries(sums.map(({ bucket, operations: [first] }) => [bucket, first?.total]));

describe('counters by bucket', () => {
  it('are the sums of all threads, which any of them tells', () => {
    const { threads } = server(2, ['photos']);
    const [a, b] = threads as [BucketCounters, BucketCounters];
    request(a, 'photos');
    request(b, 'photos', { outcome: 404 });
    request(b, 'photos');
    request(b, 'photos', { outcome: 404, firstByteSeconds: 100 });
    for (const thread of [a, b]) {
      expect(thread.sums()).toEqual([
        {
          bucket: 'photos',
          received: 40,
          sent: 80,
          operations: [
            {
              operation: 'GetObject',
              total: 4,
              inFlight: 0,
              clientErrors: 2,
              serverErrors: 0,
              canceled: 0,
              firstBytes: [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
            },
          ],
        },
      ]);
    }
  });

  it('tell failures of the server and clients that went away apart', () => {
    const { threads, sums } = server(1, ['b']);
    request(threads[0]!, 'b');
    request(threads[0]!, 'b', { outcome: 503 });
    request(threads[0]!, 'b', { outcome: 'canceled' });
    expect(sums()[0]?.operations).toMatchObject([{ total: 3, serverErrors: 1, canceled: 1, clientErrors: 0 }]);
  });

  it('have requests that are under way', () => {
    const { threads, sums } = server(1, ['b']);
    const row = threads[0]!.began('b', 'PutObject');
    const inFlight = () => sums()[0]?.operations.map((one) => [one.operation, one.inFlight]);
    expect(inFlight()).toEqual([['PutObject', 1]]);
    threads[0]!.ended('b', 'PutObject', row, counted);
    expect(inFlight()).toEqual([['PutObject', 0]]);
  });

  it('take the longest name that S3 allows', () => {
    const { threads, sums } = server(1, ['b'.repeat(63), 'after']);
    request(threads[0]!, 'b'.repeat(63));
    request(threads[0]!, 'after');
    expect(totals(sums())).toEqual({ after: 1, ['b'.repeat(63)]: 1 });
  });
});

describe('the list of buckets', () => {
  it('is the same in all threads, beyond its length too', () => {
    const names = Array.from({ length: 300 }, (_, at) => `bucket-${at}`);
    const { threads, sums } = server(4, names);
    // Each thread begins at another bucket, and all have used all of them at the end.
    threads.forEach((thread, index) => {
      for (let at = 0; at < names.length; at++) request(thread, names[(at + index * 75) % names.length]!);
    });
    const found = totals(sums());
    expect(Object.keys(found)).toHaveLength(maxListedBuckets + 1);
    for (const name of names.slice(0, maxListedBuckets)) expect([name, found[name]]).toEqual([name, 4]);
    expect(found[otherBuckets]).toBe(200 * 4);
  });

  it('is asked for by the first request to a new bucket, which is counted when it is there', () => {
    const one = server(2, ['old']);
    const [a, b] = one.threads as [BucketCounters, BucketCounters];
    one.buckets.push('new');
    request(a, 'new');
    request(a, 'new');
    request(b, 'new', { outcome: 404 });
    expect([one.asked(), totals(one.sums())]).toEqual([2, {}]);
    one.tell();
    expect(one.sums()).toMatchObject([{ bucket: 'new', operations: [{ total: 3, clientErrors: 1, inFlight: 0 }] }]);
  });

  it('answers no question that came after it was read', () => {
    const one = server(1, []);
    const early = one.read();
    one.buckets.push('new');
    request(one.threads[0]!, 'new');
    one.tell(early);
    expect([one.asked(), totals(one.sums())]).toEqual([2, {}]);
    one.tell();
    expect(totals(one.sums())).toEqual({ new: 1 });
  });

  it('has no name that a caller made up: those are others', () => {
    const one = server(1, ['photos']);
    for (const name of ['guessed', 'x'.repeat(500), otherBuckets]) request(one.threads[0]!, name, { outcome: 404 });
    one.tell();
    expect(totals(one.sums())).toEqual({ [otherBuckets]: 3 });
  });

  it('keeps a removed bucket for the next scrapes, and gives its place to another one then', () => {
    const names = Array.from({ length: 102 }, (_, at) => `bucket-${at}`);
    const one = server(2, names);
    for (const thread of one.threads) for (const name of names) request(thread, name);
    one.buckets.splice(0, 1);
    one.tell();
    for (const thread of one.threads) for (const name of ['bucket-0', 'bucket-100']) request(thread, name);
    // The requests that a bucket had among the others stay there, so that no request is counted twice.
    expect(totals(one.sums())).toMatchObject({ 'bucket-0': 4, 'bucket-100': 2, [otherBuckets]: 4 });
    one.wait(keptMs);
    expect(totals(one.sums())).not.toHaveProperty('bucket-0');
    one.tell();
    one.buckets.splice(0, 1);
    one.tell();
    for (const thread of one.threads) request(thread, 'bucket-101');
    expect(totals(one.sums())).toMatchObject({ 'bucket-1': 2, 'bucket-101': 2, [otherBuckets]: 4 });
  });

  it('goes on with a bucket that is created again', () => {
    const one = server(1, ['a', 'b']);
    request(one.threads[0]!, 'a');
    one.buckets.splice(0, 1);
    one.tell();
    one.buckets.push('a');
    one.tell();
    one.wait(keptMs * 2);
    one.tell();
    request(one.threads[0]!, 'a');
    expect(totals(one.sums())).toEqual({ a: 2 });
  });

  it('counts a request that outlived its bucket and the place of it among the others', () => {
    const one = server(1, ['a']);
    const [thread] = one.threads as [BucketCounters];
    const row = thread.began('a', 'PutObject');
    one.buckets.splice(0, 1);
    one.tell();
    one.wait(keptMs);
    one.tell();
    one.buckets.push('b');
    one.tell();
    thread.ended('a', 'PutObject', row, counted);
    one.tell();
    request(thread, 'b');
    expect(one.sums()).toMatchObject([
      { bucket: otherBuckets, operations: [{ operation: 'PutObject', total: 1, inFlight: 0 }] },
      { bucket: 'b', operations: [{ operation: 'GetObject', total: 1 }] },
    ]);
  });

  it('has a place for each of its buckets, also where all were removed and made anew', () => {
    const one = server(1, []);
    for (let round = 0; round < 5; round++) {
      one.wait(1);
      one.buckets.splice(0);
      for (let at = 0; at < maxListedBuckets; at++) one.buckets.push(`round-${round}-${at}`);
      one.tell();
      for (const name of one.buckets) request(one.threads[0]!, name);
    }
    const found = totals(one.sums());
    for (const name of one.buckets) expect(found[name]).toBe(1);
    expect(Object.keys(found)).toHaveLength(2 * maxListedBuckets);
  });

  it('is of the oldest buckets, by their names where they are of the same time', () => {
    const created = new Date(5);
    const buckets = [
      { name: 'z', created },
      { name: 'a', created },
      { name: 'late', created: new Date(6) },
      { name: 'early', created: new Date(4) },
    ];
    expect(listedBuckets(buckets)).toEqual(['early', 'a', 'z', 'late']);
  });
});
