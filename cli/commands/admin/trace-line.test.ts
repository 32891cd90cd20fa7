import { describe, expect, it } from 'vitest';
import { matchesFilter } from './trace.ts';
import { formatNanoseconds, traceFields, traceText, type TraceLine } from './trace-line.ts';

const line: TraceLine = {
  type: 4,
  nodename: 'node:9000',
  funcname: 's3.PutObject',
  time: '2030-01-01T10:00:00.123456789Z',
  path: '/photos/a b',
  dur: 3_042_087,
  http: {
    request: {
      method: 'PUT',
      path: '/photos/a b',
      rawquery: 'x-id=1',
      client: '192.0.2.7',
      headers: { Authorization: ['AWS4-HMAC-SHA256 Signature=0123'], Host: ['node:9000'], Bad: ['\u001b[2J'] },
    },
    response: { statuscode: 200, headers: { Etag: '"e"' } },
    stats: { inputbytes: 2_048, outputbytes: 0, timetofirstbyte: 3_000_000 },
  },
};

describe('a traced request', () => {
  it('is one line for people', () => {
    expect(traceText(line, false)).toBe(
      '2030-01-01T10:00:00.123 [200] s3.PutObject node:9000/photos/a b?x-id=1  192.0.2.7  3.042ms  ↑ 2.0KiB ↓ 0B',
    );
  });

  it('is a block with headers where asked, without signatures and commands to the terminal', () => {
    const text = traceText(line, true);
    expect(text).toContain('  PUT /photos/a b?x-id=1\n  > Authorization: **REDACTED**\n  > Host: node:9000');
    expect(text).toContain('  < Etag: "e"');
    expect(text).not.toContain('0123');
    expect(text).not.toContain('\u001b');
  });

  it('has the fields of stock clients', () => {
    expect(traceFields(line, false)).toEqual({
      host: 'node:9000',
      time: '2030-01-01T10:00:00.123456789Z',
      client: '192.0.2.7',
      callStats: { rx: 2_048, tx: 0, duration: 3_042_087, timeToFirstByte: 3_000_000 },
      duration: 3_042_087,
      api: 's3.PutObject',
      path: '/photos/a b',
      query: 'x-id=1',
      statusCode: 200,
      type: 'S3',
      size: 2_048,
      error: '',
    });
  });

  it('may lack everything', () => {
    expect(traceText({ msg: '3 requests are not shown' }, true)).toContain('3 requests are not shown');
    expect(traceFields({}, true)).toMatchObject({ statusCode: 0, path: '' });
  });
});

describe('a filter', () => {
  it.each([
    [{}, true],
    [{ statusCode: ['2??'] }, true],
    [{ statusCode: ['404', '5*'] }, false],
    [{ method: ['put'] }, true],
    [{ funcname: ['s3.Put*'] }, true],
    [{ path: ['photos/*'] }, true],
    [{ path: ['/photos/*'] }, true],
    [{ path: ['photos'] }, false],
    [{ node: ['other:9000'] }, false],
    [{ path: ['photos/*'], method: ['GET'] }, false],
    [{ path: ['photos/a.b'] }, false],
    [{ requestHeader: ['host: node'] }, true],
    [{ requestHeader: ['!bad'] }, false],
    [{ requestQuery: ['x-id=1', '!uploads'] }, true],
    [{ requestQuery: ['uploads'] }, false],
    [{ filterRequest: true, filterSize: '1KiB' }, true],
    [{ filterRequest: true, filterSize: '2KiB' }, false],
    [{ filterResponse: true, filterSize: '0B' }, false],
  ])('%j shows it: %s', (filter, shown) => {
    expect(matchesFilter(line, filter)).toBe(shown);
  });
});

describe('a duration', () => {
  it.each([
    [531_206, '531µs'],
    [3_042_087, '3.042ms'],
    [1_250_000_000, '1.250s'],
  ])('of %i nanoseconds is %s', (duration, text) => {
    expect(formatNanoseconds(duration)).toBe(text);
  });
});
