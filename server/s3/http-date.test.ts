import { array, assert, date as anyDate, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { httpDate } from './http-date.ts';

describe('httpDate', () => {
  it('writes what toUTCString writes, whichever was written before', () => {
    assert(
      property(array(anyDate({ noInvalidDate: true }), { minLength: 1, maxLength: 4 }), (dates) => {
        for (const date of dates) expect(httpDate(date)).toBe(date.toUTCString());
      }),
    );
  });

  it('tells the last millisecond of a day from the first of the next', () => {
    expect(httpDate(new Date(86_399_999))).toBe('Thu, 01 Jan 1970 23:59:59 GMT');
    expect(httpDate(new Date(86_400_000))).toBe('Fri, 02 Jan 1970 00:00:00 GMT');
    expect(httpDate(new Date(-1))).toBe('Wed, 31 Dec 1969 23:59:59 GMT');
  });
});
