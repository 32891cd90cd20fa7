import { describe, expect, it } from 'vitest';
import { routes } from '../../s3/routes.ts';
import {
  RequestCounters,
  requestCounterMemory,
  RequestMeasure,
  BucketCounters,
  bucketCounterMemory,
  otherBuckets,
} from './request-counters.ts';

const operations = ['GetObject', 'PutObject'];

function twoThreads(): readonly [RequestCounters, RequestCounters] {
  const memory = requestCounterMemory(2);
  return [new RequestCounters(memory, 0, operations), new RequestCounters(memory, 1, operations)];
}

function count(counters: RequestCounters, operation: string, outcome: number | 'canceled', seconds?: number): void {
  const place = counters.placeOf(operation) ?? -1;
  counters.began(place);
  counters.ended(place, outcome, seconds);
}

describe('the counters of threads', () => {
  it('are added up, whichever thread asks', () => {
    const [first, second] = twoThreads();
    count(first, 'GetObject', 200, 0.003);
    count(second, 'GetObject', 404, 0.003);
    count(second, 'PutObject', 503, 0.003);
    second.moved(10, 20);
    first.moved(1, 2);
    expect(first.sums()).toEqual(second.sums());
    expect(first.sums()).toMatchObject({
      received: 11,
      sent: 22,
      operations: [
        { operation: 'GetObject', total: 2, clientErrors: 1, serverErrors: 0 },
        { operation: 'PutObject', total: 1, clientErrors: 0, serverErrors: 1 },
      ],
    });
  });
  it('count what is in flight until it ends', () => {
    const [first, second] = twoThreads();
    const place = first.placeOf('PutObject') ?? -1;
    first.began(place);
    expect(second.sums().operations).toMatchObject([{ operation: 'PutObject', inFlight: 1, total: 0 }]);
    first.ended(place, 200, 1);
    expect(second.sums().operations).toMatchObject([{ inFlight: 0, total: 1 }]);
  });
  it('count a client that went away as no error', () => {
    const [first] = twoThreads();
    count(first, 'GetObject', 'canceled');
    expect(first.sums().operations).toMatchObject([{ total: 1, canceled: 1, clientErrors: 0, serverErrors: 0 }]);
  });
  it('put a time into the first bound that holds it, and the slowest above all', () => {
    const [first] = twoThreads();
    for (const seconds of [0.004, 0.005, 0.05, 11]) count(first, 'GetObject', 200, seconds);
    const [sums] = first.sums().operations;
    expect(sums?.firstBytes).toEqual([2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
    expect(sums?.firstByteSeconds).toBeCloseTo(11.059);
  });
  it('have room for every operation of the S3 API', () => {
    const names = [...new Set(routes.map(([, , , { name }]) => name))];
    const counters = new RequestCounters(requestCounterMemory(1), 0, names);
    for (const name of names) count(counters, name, 200, 0);
    expect(counters.sums().operations.map(({ total }) => total)).toEqual(names.map(() => 1));
  });
});

describe('the measure of a request', () => {
  it('counts nothing of a request without an operation', () => {
    const [counters] = twoThreads();
    const measure = new RequestMeasure(counters);
    measure.firstByte();
    measure.rejected('SignatureDoesNotMatch');
    measure.ended(403);
    expect(counters.sums()).toMatchObject({ operations: [], rejectedAuth: 0 });
  });
  it.each([
    ['SignatureDoesNotMatch', { rejectedAuth: 1, rejectedTimestamp: 0 }],
    ['RequestTimeTooSkewed', { rejectedAuth: 0, rejectedTimestamp: 1 }],
    ['AccessDenied', { rejectedAuth: 0, rejectedTimestamp: 0 }],
  ])('tells what is refused for %s', (code, expected) => {
    const [counters] = twoThreads();
    const measure = new RequestMeasure(counters);
    measure.isFor('GetObject');
    measure.rejected(code);
    measure.ended(403);
    expect(counters.sums()).toMatchObject(expected);
  });
  it('ends once', () => {
    const [counters] = twoThreads();
    const measure = new RequestMeasure(counters);
    measure.isFor('GetObject');
    measure.ended(200);
    measure.ended(500);
    expect(counters.sums().operations).toMatchObject([{ total: 1, inFlight: 0, serverErrors: 0 }]);
  });
});

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

  it('have no bucket of which no caller could read anything', () => {
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
