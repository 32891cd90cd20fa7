import { describe, expect, it } from 'vitest';
import { shownHeaders, shownQuery, traceLine } from './trace-line.ts';
import type { FinishedRequest } from '../../http/contract/request.ts';
import { goDuration, isWanted, wantedOf } from './trace.ts';
import { logEntry } from './logs.ts';

describe('headers of a trace', () => {
  it('tell whose signature it is, and not the signature', () => {
    const authorization =
      'AWS4-HMAC-SHA256 Credential=AK/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0123abcd';
    expect(shownHeaders({ authorization })['Authorization']).toEqual([
      'AWS4-HMAC-SHA256 Credential=AK/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=[redacted]',
    ]);
  });

  it.each([
    ['authorization', 'Bearer eyJhbGciOi'],
    ['authorization', 'AWS AK:c2lnbmF0dXJl'],
    ['cookie', 'session=abc'],
    ['x-amz-security-token', 'token'],
    ['x-amz-server-side-encryption-customer-key', 'a2V5'],
    ['x-amz-copy-source-server-side-encryption-customer-key', 'a2V5'],
  ])('hide %s: %s', (name, value) => {
    expect(Object.values(shownHeaders({ [name]: value }))).toEqual([['[redacted]']]);
  });

  it('have any name', () => {
    const headers = JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, string>;
    expect(Object.entries(shownHeaders(headers))).toEqual([
      ['__proto__', ['a']],
      ['Constructor', ['b']],
    ]);
  });

  it('show all values of the others', () => {
    expect(shownHeaders({ 'content-length': 7, via: ['a', 'b'], host: undefined })).toEqual({
      'Content-Length': ['7'],
      Via: ['a', 'b'],
    });
  });
});

it('a trace has the names of headers as a MinIO writes them, since clients look for Host', () => {
  const headers = { host: 'h', 'x-amz-date': '20260101T000000Z', 'X-AMZ-Request-Id': '1', etag: '"e"', ETag: '"e"' };
  expect(Object.keys(shownHeaders(headers))).toEqual(['Host', 'X-Amz-Date', 'X-Amz-Request-Id', 'ETag']);
});

describe('a query of a trace', () => {
  it.each([
    ['', ''],
    ['list-type=2&prefix=a%2Fb', 'list-type=2&prefix=a%2Fb'],
    ['uploads', 'uploads'],
    ['X-Amz-Credential=AK&X-Amz-Signature=ab', 'X-Amz-Credential=AK&X-Amz-Signature=[redacted]'],
    ['x-amz-security-token=ab', 'x-amz-security-token=[redacted]'],
    ['Action=A&LDAPUsername=ann&LDAPPassword=b', 'Action=A&LDAPUsername=ann&LDAPPassword=[redacted]'],
    ['WebIdentity%54oken=ab', 'WebIdentity%54oken=[redacted]'],
  ])('%j is shown as %j', (query, shown) => {
    expect(shownQuery(query)).toBe(shown);
  });
});

const finished: FinishedRequest = {
  request: {
    requestId: 'R',
    method: 'GET',
    rawPath: '/b/a%20b',
    rawQuery: 'X-Amz-Signature=ab',
    headers: { host: 'h' },
    remoteAddress: '192.0.2.1',
    secure: false,
  },
  api: 's3',
  operation: 'GetObject',
  decisions: [],
  decisionsLeftOut: 0,
  status: 200,
  outcome: 'answered',
  responseHeaders: ['etag', '"e"'],
  startedAt: Date.parse('2026-01-01T00:00:00Z'),
  firstByteMs: 1.5,
  ms: 20,
  received: 100,
  sent: 200,
};
const wanted = (query: string) => wantedOf(new URLSearchParams(query));

describe('a line of a trace', () => {
  it('has what clients print', () => {
    expect(traceLine(finished, 'node')).toMatchObject({
      type: 4,
      nodename: 'node',
      funcname: 's3.GetObject',
      path: '/b/a b',
      dur: 20_000_000,
      http: {
        request: { rawquery: 'X-Amz-Signature=[redacted]', client: '192.0.2.1', headers: { Host: ['h'] } },
        response: { statuscode: 200, time: '2026-01-01T00:00:00.020Z', headers: { ETag: ['"e"'] } },
        stats: { inputbytes: 100, outputbytes: 200, timetofirstbyte: 1_500_000 },
      },
    });
  });

  it('says that the client went away', () => {
    expect(traceLine({ ...finished, status: 200, outcome: 'canceled' }, 'n').http.response.statuscode).toBe(499);
  });

  it.each([
    ['s3=true', {}, true],
    ['internal=true', {}, false],
    ['internal=true', { api: 'admin' }, true],
    ['all=true', { api: 'sts' }, true],
    ['storage=true', {}, false],
    ['s3=true&err=true', {}, false],
    ['s3=true&err=true', { status: 404 }, true],
    ['s3=true&threshold=20ms', {}, true],
    ['s3=true&threshold=20.1ms', {}, false],
    ['all=true', { api: 'console', refresh: true }, true],
    ['all=true&refreshes=left-out', { api: 'console', refresh: true }, false],
    ['all=true&refreshes=left-out', { api: 'console', refresh: true, status: 500 }, true],
    ['all=true&refreshes=left-out', { api: 'console' }, true],
  ] as const)('%s of %j: %s', (query, changes, expected) => {
    expect(isWanted(traceLine({ ...finished, ...changes }, 'n'), wanted(query))).toBe(expected);
  });
});

describe('goDuration', () => {
  it.each([
    ['0', 0],
    ['0s', 0],
    ['5ms', 5],
    ['1m30s', 90_000],
    ['1.5s', 1_500],
    ['100µs', 0.1],
    ['250ns', 0.00025],
  ])('%s is %s ms', (text, ms) => {
    expect(goDuration(text)).toBeCloseTo(ms, 9);
  });

  it.each(['', '5', 's', '-1s', '1d', '1s 2s', 'soon'])('takes %j for none', (text) => {
    expect(goDuration(text)).toBeUndefined();
  });
});

describe('a line of the log', () => {
  const source = { deploymentId: 'D', node: 'n' };

  it('has what clients print', () => {
    const line = {
      level: 'error',
      time: '2026-01-01T00:00:00.000Z',
      name: 'coffer-server',
      requestId: 'R',
      err: { message: 'broken', stack: 'Error: broken\n    at a\n    at b' },
      msg: 'request failed',
    };
    expect(logEntry(JSON.stringify(line), source)).toMatchObject({
      deploymentid: 'D',
      level: 'ERROR',
      errKind: 'MINIO',
      requestID: 'R',
      message: 'request failed',
      error: { message: 'broken', source: ['at a', 'at b'] },
      node: 'n',
      ConsoleMsg: expect.stringContaining('request failed') as string,
    });
  });

  it('is shown as it is where it was cut', () => {
    expect(logEntry('{"level":"info","msg":"long', source)).toMatchObject({
      level: 'INFO',
      message: '{"level":"info","msg":"long',
    });
  });
});
