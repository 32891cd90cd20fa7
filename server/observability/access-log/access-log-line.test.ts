import { createHash } from 'node:crypto';
import { assert, constantFrom, integer, oneof, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FinishedRequest } from '../../http/contract/request.ts';
import { accessLogLine } from './access-log-line.ts';

const base: FinishedRequest = {
  request: {
    requestId: 'ABCDEF0123456789',
    method: 'GET',
    rawPath: '/photos/a%20b/c',
    rawQuery: '',
    headers: { host: 's3.example.com', 'user-agent': 'aws-cli/2', authorization: 'AWS4-HMAC-SHA256 x' },
    remoteAddress: '192.0.2.3',
    secure: true,
  },
  api: 's3',
  operation: 'GetObject',
  bucket: 'photos',
  key: 'a b/c',
  principal: { kind: 'anonymous' },
  decisions: [],
  decisionsLeftOut: 0,
  status: 200,
  outcome: 'answered',
  responseHeaders: ['content-length', '5'],
  startedAt: Date.UTC(2026, 10, 23, 1, 2, 3),
  firstByteMs: 4.2,
  ms: 7.6,
  received: 100,
  sent: 300,
};

const principal = { kind: 'root', accessKey: 'root' } as const;

/** Splits a line as the regular expression of Amazon's guide for Athena does. */
const fieldPattern = /"[^"]*"|\[[^\]]*\]|[^ ]+/g;
const fieldsOf = (line: string) => line.trimEnd().match(fieldPattern) ?? [];

/** The fields of a request by a user, whose host, client and address have the name of the user too. */
function fieldsOfClient(name: string) {
  const headers = { host: `${name}.test`, referer: `https://${name}.test/`, 'user-agent': name };
  const request = { ...base.request, headers, remoteAddress: `host-of-${name}` };
  const principal = { kind: 'user', accessKey: name, subject: { kind: 'user', name } } as const;
  return fieldsOf(accessLogLine({ ...base, request, principal, bucket: name }, 'o'));
}

describe('a line of the access log', () => {
  it("has Amazon's fields in their order", () => {
    expect(accessLogLine(base, 'owner')).toBe(
      'owner photos [23/Nov/2026:01:02:03 +0000] 192.0.2.3 - ABCDEF0123456789 REST.GET.OBJECT a%20b/c ' +
        '"GET /photos/a%20b/c HTTP/1.1" 200 - 5 5 8 4 "-" "aws-cli/2" - coffer - - - s3.example.com - - -\n',
    );
    expect(fieldsOf(accessLogLine(base, 'owner'))).toHaveLength(26);
  });

  it.each([
    ['PutBucketVersioning', 'PUT', 'REST.PUT.VERSIONING'],
    ['GetBucketLogging', 'GET', 'REST.GET.LOGGING_STATUS'],
    ['HeadBucket', 'HEAD', 'REST.HEAD.BUCKET'],
    ['CreateBucket', 'PUT', 'REST.PUT.BUCKET'],
    ['PutObjectTagging', 'PUT', 'REST.PUT.OBJECT_TAGGING'],
    ['GetBucketLifecycleConfiguration', 'GET', 'REST.GET.LIFECYCLE'],
    ['ListObjectsV2', 'GET', 'REST.GET.BUCKET'],
    ['DeleteObjects', 'POST', 'REST.POST.MULTI_OBJECT_DELETE'],
    [undefined, 'GET', '-'],
  ])('names %s by %s as %s', (operation, method, name) => {
    const line = accessLogLine({ ...base, operation, request: { ...base.request, method } }, 'owner');
    expect(fieldsOf(line)[6]).toBe(name);
  });

  it.each([
    ['verified', principal, ['SigV4', '-', 'AuthHeader']],
    ['refused', undefined, ['-', '-', '-']],
    ['not looked at, since the caller is anonymous', { kind: 'anonymous' } as const, ['-', '-', '-']],
  ])('says how a request is signed, where the signature was %s', (_what, sender, fields) => {
    expect(fieldsOf(accessLogLine({ ...base, principal: sender }, 'owner')).slice(19, 22)).toEqual(fields);
  });

  it('shows neither signatures nor session tokens', () => {
    const rawQuery = 'X-Amz-Security-Token=secret&versionId=v&X-Amz-Signature=secret';
    const line = accessLogLine({ ...base, principal, request: { ...base.request, rawQuery, headers: {} } }, 'owner');
    expect(line).not.toContain('secret');
    expect(line).toContain(' v coffer SigV4 - QueryString ');
  });

  it.each([
    'x-amz-checksum-sha256=secret',
    'Content-MD5=secret',
    'X-Amz-Content-Sha256=secret',
    'X-Amz-%53ignature=secret',
  ])('shows no digest of a body, which may be encrypted, and no hidden name: %s', (rawQuery) => {
    const referer = `https://app.example/?page=1&${rawQuery}`;
    const line = accessLogLine({ ...base, request: { ...base.request, rawQuery, headers: { referer } } }, 'owner');
    expect(line).not.toContain('secret');
    expect(line).toContain('"https://app.example/?page=1&');
  });

  it('has an error, and the size of a part of an object', () => {
    const refusal = { code: 'NoSuchKey', message: 'x' };
    expect(fieldsOf(accessLogLine({ ...base, status: 404, refusal }, 'o')).slice(9, 13)).toEqual([
      '404',
      'NoSuchKey',
      '5',
      '-',
    ]);
    const responseHeaders = ['content-length', '5', 'content-range', 'bytes 0-4/100'];
    expect(fieldsOf(accessLogLine({ ...base, status: 206, responseHeaders }, 'o'))[12]).toBe('100');
  });

  it.each([
    ['5', '5'],
    ['5 - - "x"', '-'],
    ['5\n', '-'],
    ['', '-'],
    ['-1', '-'],
  ])('has the size of an object that was sent in chunks as %j in the form %s', (length, size) => {
    const headers = { 'x-amz-decoded-content-length': length };
    const request = { ...base.request, method: 'PUT', headers };
    expect(fieldsOf(accessLogLine({ ...base, operation: 'PutObject', request }, 'o'))[12]).toBe(size);
  });

  it('has the fields of its own request where clients alternate', () => {
    for (const name of ['ann', 'bob', 'ann']) {
      const fields = fieldsOfClient(name);
      const id = createHash('sha256').update(`user:${name}`).digest('hex');
      expect([fields[1], fields[3], fields[4], fields[15], fields[16], fields[22]]).toEqual([
        name,
        `host-of-${name}`,
        id,
        `"https://${name}.test/"`,
        `"${name}"`,
        `${name}.test`,
      ]);
    }
  });

  it('has the encoded key', () => {
    const characters = constantFrom(
      'a',
      'Z',
      '0',
      '/',
      'ä',
      '😀',
      '"',
      "'",
      ' ',
      '\n',
      '\0',
      '[',
      ']',
      '%',
      '(',
      '~',
      '+',
      '-',
    );
    assert(
      property(string({ unit: characters, minLength: 1 }), (key) => {
        const encoded = key.split('/').map(encodeURIComponent).join('/');
        expect(fieldsOf(accessLogLine({ ...base, key }, 'o'))[7]).toBe(encoded);
      }),
    );
  });

  it('has its fields in one line, whatever callers send', () => {
    // Node keeps a byte of a header as one character. The unit `binary` of fast-check takes seconds to build.
    const byte = integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
    const unit = oneof(byte, constantFrom('\u2028', '😀', '\ud800', '\n', '"', ' ', ']'));
    assert(
      property(string({ unit }), string(), (one, other) => {
        const lengths = { 'content-length': other, 'x-amz-decoded-content-length': one };
        const headers = { host: one, referer: other, 'user-agent': one, ...lengths };
        const request = { ...base.request, headers, rawPath: `/${other}`, rawQuery: one, remoteAddress: other };
        const key = one.toWellFormed();
        const line = accessLogLine({ ...base, operation: 'PutObject', request, key, bucket: other }, 'owner');
        // The time has a space, and a field may begin with a bracket.
        expect(line.replaceAll(/"[^"]*"/g, '').split(' ')).toHaveLength(27);
        expect(line.indexOf('\n')).toBe(line.length - 1);
        expect(line).toMatch(/^[ -~]+\n$/);
      }),
    );
  });
});
