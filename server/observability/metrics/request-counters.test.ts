import { describe, expect, it } from 'vitest';
import { routes } from '../../s3/routes.ts';
import { RequestCounters, requestCounterMemory } from './request-counters.ts';

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
  it('count what is not offered as an error of the client', () => {
    const [first] = twoThreads();
    count(first, 'GetObject', 501);
    expect(first.sums().operations).toMatchObject([{ total: 1, clientErrors: 1, serverErrors: 0 }]);
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
