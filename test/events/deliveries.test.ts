import { describe, expect, it } from 'vitest';
import { firstDeliveries, missing, outOfOrder, outOfRevisions } from './deliveries.ts';

const receiver = (...events: readonly (readonly [key: string, number: number, revision: number])[]) => ({
  records: events.map(([key, number, revision]) => ({
    eventName: 's3:ObjectCreated:Put',
    s3: {
      object: {
        key,
        sequencer: revision.toString(16).toUpperCase().padStart(16, '0'),
        userMetadata: { 'X-Amz-Meta-Number': String(number) },
      },
    },
  })),
});

describe('deliveries', () => {
  it('are missing where an acknowledged write has not come', () => {
    expect(missing(receiver(['a', 1, 10]), new Set(['a#1', 'a#2']))).toEqual(['a#2']);
  });

  it('may come again after a later one', () => {
    const came = receiver(['a', 1, 10], ['a', 2, 11], ['a', 1, 10]);
    expect(outOfOrder(firstDeliveries(came), new Set(['a#1', 'a#2']))).toEqual([]);
    expect(outOfRevisions(came)).toEqual([]);
  });

  it('are out of order where a later write of the key came before', () => {
    const came = receiver(['a', 2, 17], ['b', 1, 9], ['a', 1, 16]);
    expect(outOfOrder(firstDeliveries(came), new Set(['a#1', 'a#2', 'b#1']))).toEqual(['a#1']);
    expect(outOfRevisions(came)).toEqual(['a#16']);
  });

  it('of a write whose connection broke come in the order in which the server made them', () => {
    const came = receiver(['a', 2, 10], ['a', 1, 11]);
    expect(outOfOrder(firstDeliveries(came), new Set(['a#2']))).toEqual([]);
    expect(outOfRevisions(came)).toEqual([]);
  });
});
