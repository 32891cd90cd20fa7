import { describe, expect, it } from 'vitest';
import { BucketCounters, bucketCounterMemory, otherBuckets } from './bucket-counters.ts';

const operations = ['GetObject', 'PutObject'];
const counted = { outcome: 200, firstByteSeconds: 0.003, received: 10, sent: 20 } as const;

function threads(count: number): BucketCounters[] {
  const memory = bucketCounterMemory(count);
  return Array.from({ length: count }, (_, thread) => new BucketCounters(memory, thread, operations));
}

function request(counters: BucketCounters, bucket: string, more: Partial<Parameters<BucketCounters['ended']>[3]> = {}) {
  counters.ended(bucket, 'GetObject', counters.began(bucket, 'GetObject'), { ...counted, ...more });
}

describe('counters by bucket', () => {
  it('are the sums of all threads, which any of them tells', () => {
    const [a, b] = threads(2) as [BucketCounters, BucketCounters];
    request(a, 'photos');
    request(b, 'photos', { outcome: 404 });
    request(b, 'photos');
    request(b, 'photos', { outcome: 404, firstByteSeconds: 100 });
    for (const thread of [a, b]) {
      expect(thread.sums()).toEqual([
        {
          bucket: 'photos',
          received: 30,
          sent: 60,
          operations: [
            {
              operation: 'GetObject',
              total: 3,
              inFlight: 0,
              clientErrors: 1,
              serverErrors: 0,
              canceled: 0,
              firstBytes: [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
            },
          ],
        },
      ]);
    }
  });

  it('tell failures of the server and clients that went away apart', () => {
    const [counters] = threads(1) as [BucketCounters];
    request(counters, 'b');
    request(counters, 'b', { outcome: 503 });
    request(counters, 'b', { outcome: 'canceled' });
    expect(counters.sums()[0]?.operations).toMatchObject([{ total: 3, serverErrors: 1, canceled: 1, clientErrors: 0 }]);
  });

  it('have requests that are under way', () => {
    const [counters] = threads(1) as [BucketCounters];
    request(counters, 'b');
    const place = counters.began('b', 'PutObject');
    const inFlight = () => counters.sums()[0]?.operations.map((sums) => [sums.operation, sums.inFlight]);
    expect(inFlight()).toEqual([
      ['GetObject', 0],
      ['PutObject', 1],
    ]);
    counters.ended('b', 'PutObject', place, counted);
    expect(inFlight()).toEqual([
      ['GetObject', 0],
      ['PutObject', 0],
    ]);
  });

  it('have no bucket that nobody could read anything of', () => {
    const [counters] = threads(1) as [BucketCounters];
    request(counters, 'guessed', { outcome: 404 });
    request(counters, 'guessed', { outcome: 403 });
    request(counters, 'guessed', { outcome: 'canceled' });
    expect(counters.sums()).toEqual([]);
  });

  it('have a hundred buckets, and all others together', () => {
    const [counters] = threads(1) as [BucketCounters];
    for (let at = 0; at < 130; at++) request(counters, `bucket-${at}`);
    const sums = counters.sums();
    expect(sums).toHaveLength(101);
    expect(sums.find(({ bucket }) => bucket === otherBuckets)?.operations).toMatchObject([{ total: 30 }]);
  });

  it('take the longest name that S3 allows', () => {
    const [counters] = threads(1) as [BucketCounters];
    request(counters, 'b'.repeat(63));
    request(counters, 'after');
    expect(counters.sums().map(({ bucket }) => bucket)).toEqual(['after', 'b'.repeat(63)]);
  });
});
