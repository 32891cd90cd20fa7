import { describe, expect, it } from 'vitest';
import { RequestCounters, requestCounterMemory } from './request-counters.ts';
import { RequestMeasure } from './request-measure.ts';

const oneThread = () => new RequestCounters(requestCounterMemory(1), 0, ['GetObject', 'PutObject']);

describe('the measure of a request', () => {
  it('counts nothing of a request without an operation', () => {
    const counters = oneThread();
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
    const counters = oneThread();
    const measure = new RequestMeasure(counters);
    measure.isFor('GetObject');
    measure.rejected(code);
    measure.ended(403);
    expect(counters.sums()).toMatchObject(expected);
  });
  it('ends once', () => {
    const counters = oneThread();
    const measure = new RequestMeasure(counters);
    measure.isFor('GetObject');
    measure.ended(200);
    measure.ended(500);
    expect(counters.sums().operations).toMatchObject([{ total: 1, inFlight: 0, serverErrors: 0 }]);
  });
});
