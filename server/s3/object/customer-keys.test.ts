import { keptChunks } from '../../streams/chunks.ts';
import { createHash, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { AccessRequest } from '../../auth/principal.ts';
import { within } from '../../store/keys.ts';
import { CustomerKey } from '../../encryption/object-key.ts';
import { type TestCalls, testCalls } from '../../../test/support/s3-api/s3-calls.ts';

const prefix = 'x-amz-server-side-encryption-customer-';
const sourcePrefix = 'x-amz-copy-source-server-side-encryption-customer-';
const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('base64');

function keyHeaders(bytes: Buffer, of = prefix): Record<string, string> {
  return { [`${of}algorithm`]: 'AES256', [`${of}key`]: bytes.toString('base64'), [`${of}key-md5`]: md5(bytes) };
}

const mine = randomBytes(32);
const other = randomBytes(32);
const path = '/bucket/key';
const large = randomBytes(5 * 1024 * 1024);

async function withObject(body: string | Buffer = 'a secret'): Promise<TestCalls> {
  const test = await testCalls({ layer: { inlineLimit: 1_000 } });
  expect((await test.call('PUT', path, { headers: keyHeaders(mine), body })).status).toBe(200);
  return test;
}

describe('an object under a key of the client', () => {
  it.each(['a secret', randomBytes(200_000).toString('hex')])('comes back to who has the key', async (body) => {
    const { call } = await withObject(body);
    const answer = await call('GET', path, { headers: keyHeaders(mine) });
    expect([answer.status, answer.body === body]).toEqual([200, true]);
    const range = { ...keyHeaders(mine), range: 'bytes=2-6' };
    expect((await call('GET', path, { headers: range })).body).toBe(body.slice(2, 7));
  });

  it('is identified by algorithm and MD5 of the key in answers to PUT, GET and HEAD', async () => {
    const { call } = await testCalls();
    const told = { [`${prefix}algorithm`]: 'AES256', [`${prefix}key-md5`]: md5(mine) };
    for (const [method, body] of [['PUT', 'x'], ['GET'], ['HEAD']] as const) {
      const answer = await call(method, path, { headers: keyHeaders(mine), body: body ?? '' });
      expect(answer.headers).toMatchObject(told);
      expect(answer.headers['x-amz-server-side-encryption']).toBeUndefined();
    }
  });

  it('has an ETag that is not the MD5 of its bytes', async () => {
    const { call } = await withObject('x');
    const { headers } = await call('HEAD', path, { headers: keyHeaders(mine) });
    expect(headers['etag']).toMatch(/^"[0-9a-f]{32}"$/);
    expect(headers['etag']).not.toContain(createHash('md5').update('x').digest('hex'));
  });

  it.each(['GET', 'HEAD'])('is refused to %s without the key', async (method) => {
    const { call } = await withObject();
    expect(await call(method, path)).toMatchObject({
      code: 'InvalidRequest',
      status: 400,
      body: expect.stringContaining('The object was stored using a form of Server Side Encryption.'),
    });
  });

  it.each(['GET', 'HEAD'])('is refused to %s with another key', async (method) => {
    const { call } = await withObject();
    expect(await call(method, path, { headers: keyHeaders(other) })).toMatchObject({
      code: 'AccessDenied',
      status: 403,
    });
  });

  it('reveals nothing by conditions to a caller without the key', async () => {
    const { call } = await withObject();
    const { headers } = await call('HEAD', path, { headers: keyHeaders(mine) });
    const asked = { 'if-none-match': String(headers['etag']) };
    expect(await call('GET', path, { headers: asked })).toMatchObject({ code: 'InvalidRequest' });
    const known = await call('GET', path, { headers: { ...asked, ...keyHeaders(mine) } });
    expect(known.status).toBe(304);
  });

  it('is described by GetObjectAttributes to a caller with the key', async () => {
    const { call } = await withObject();
    const headers = { 'x-amz-object-attributes': 'ObjectSize' };
    expect(await call('GET', `${path}?attributes`, { headers })).toMatchObject({ code: 'InvalidRequest' });
    const answer = await call('GET', `${path}?attributes`, { headers: { ...headers, ...keyHeaders(mine) } });
    expect(answer.body).toContain('<ObjectSize>8</ObjectSize>');
  });

  it('leaves neither key nor MD5 nor plaintext in the stores', async () => {
    const { call, records, blobs } = await withObject('plain '.repeat(1_000));
    await call('PUT', '/bucket/small', { headers: keyHeaders(mine), body: 'plain ' });
    const stored: Buffer[] = [];
    for await (const item of records.scan({ start: Buffer.of(0), end: Buffer.of(255) })) {
      if (item.kind === 'entry') stored.push(item.value);
    }
    for await (const { id, size } of blobs.list()) {
      for await (const chunk of keptChunks(blobs.read(id, { start: 0, end: size }))) stored.push(chunk);
    }
    const everything = Buffer.concat(stored);
    expect(everything.length).toBeGreaterThan(6_000);
    for (const secret of [mine, mine.toString('base64'), mine.toString('hex'), md5(mine), 'plain ']) {
      expect(everything.includes(secret)).toBe(false);
    }
  });

  it('can be overwritten and deleted without the key', async () => {
    const { call } = await withObject();
    expect((await call('PUT', path, { body: 'plain' })).status).toBe(200);
    expect((await call('GET', path)).body).toBe('plain');
    await call('PUT', path, { headers: keyHeaders(mine), body: 'x' });
    expect((await call('DELETE', path)).status).toBe(204);
  });

  it('needs no key service', async () => {
    const test = await withObject();
    test.keyService.failing = 'unavailable';
    expect((await test.call('GET', path, { headers: keyHeaders(mine) })).body).toBe('a secret');
    expect(test.keyService.calls).toEqual([]);
  });
});

describe("a client's key", () => {
  const algorithm = `${prefix}algorithm`;
  const given = keyHeaders(mine);
  const without = (name: string) => Object.fromEntries(Object.entries(given).filter(([one]) => one !== prefix + name));

  it.each([
    ['without an algorithm', without('algorithm'), 'a valid encryption algorithm'],
    ['with another algorithm', { ...given, [algorithm]: 'AES128' }, 'a valid encryption algorithm'],
    ['that is missing', without('key'), 'an appropriate secret key'],
    ['without its MD5', without('key-md5'), 'the client calculated MD5'],
    ['with the MD5 of another', { ...given, [`${prefix}key-md5`]: md5(other) }, 'did not match the hash'],
    ['with an MD5 that is none', { ...given, [`${prefix}key-md5`]: 'AAAA' }, 'did not match the hash'],
    ['of 31 bytes', keyHeaders(mine.subarray(1)), 'The secret key was invalid'],
    ['of 33 bytes', keyHeaders(Buffer.concat([mine, Buffer.of(1)])), 'The secret key was invalid'],
  ] as [string, Record<string, string>, string][])(
    '%s is refused, and is not repeated',
    async (_what, headers, message) => {
      const { call } = await testCalls();
      for (const method of ['PUT', 'GET', 'HEAD']) {
        const answer = await call(method, path, { headers, body: 'x' });
        expect(answer).toMatchObject({ code: 'InvalidArgument', status: 400, body: expect.stringContaining(message) });
        expect(answer.body).not.toContain(mine.toString('base64'));
      }
    },
  );

  it('does not go with another kind of encryption', async () => {
    const { call } = await testCalls();
    const headers = { ...given, 'x-amz-server-side-encryption': 'AES256' };
    expect(await call('PUT', path, { headers, body: 'x' })).toMatchObject({ code: 'InvalidArgument' });
  });

  it.each([undefined, 'AES256', 'aws:kms'])('is refused for an object with encryption %s', async (scheme) => {
    const { call } = await testCalls();
    await call('PUT', path, {
      body: 'x',
      headers: scheme === undefined ? {} : { 'x-amz-server-side-encryption': scheme },
    });
    expect(await call('GET', path, { headers: given })).toMatchObject({
      code: 'InvalidRequest',
      body: expect.stringContaining('not applicable'),
    });
  });

  it('must not travel in the clear', async () => {
    const { call } = await testCalls();
    for (const method of ['PUT', 'GET', 'HEAD']) {
      expect(await call(method, path, { headers: given, body: 'x', secure: false })).toMatchObject({
        code: 'InvalidRequest',
        body: expect.stringContaining('secure connection'),
      });
    }
    const source = { 'x-amz-copy-source': 'bucket/key', ...keyHeaders(mine, sourcePrefix) };
    expect(await call('PUT', '/bucket/copy', { headers: source, secure: false })).toMatchObject({
      code: 'InvalidRequest',
    });
  });

  it('travels in the clear where a setting allows it', async () => {
    const { call } = await testCalls({ customerKeysWithoutTls: true });
    expect((await call('PUT', path, { headers: given, body: 'x', secure: false })).status).toBe(200);
  });

  it('is shown by no log', () => {
    const key = new CustomerKey(mine);
    for (const shown of [inspect(key, { depth: 9, showHidden: true }), JSON.stringify(key)]) {
      expect(shown).not.toContain(mine.toString('hex').slice(0, 8));
      expect(shown).not.toContain(mine.toString('base64').slice(0, 8));
    }
  });

  it('is hidden from policies, which only see that there is one', async () => {
    const asked: AccessRequest[] = [];
    const { call } = await testCalls({ authorize: (request) => asked.push(request) > 0 });
    await call('PUT', path, { headers: given, body: 'x' });
    const values = Object.entries(asked[0]?.context ?? {}).flat(2);
    expect(values).toContain(`s3:${algorithm}`);
    expect(values).not.toContain(mine.toString('base64'));
  });
});

/** Returns the headers that a read needs after a write. */
const needed = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith(prefix)));

async function begun(headers: Record<string, string>) {
  const test = await testCalls();
  const { body } = await test.call('POST', `${path}?uploads`, { headers });
  return { ...test, uploadId: /<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? '' };
}

const part = (uploadId: string, number: number) => `${path}?uploadId=${uploadId}&partNumber=${number}`;

describe('copies', () => {
  const kinds: readonly (readonly [string, Record<string, string>, Record<string, string>])[] = [
    ['none', {}, {}],
    ['SSE-S3', { 'x-amz-server-side-encryption': 'AES256' }, {}],
    ['SSE-KMS', { 'x-amz-server-side-encryption': 'aws:kms' }, {}],
    ['SSE-C', keyHeaders(mine), keyHeaders(mine, sourcePrefix)],
    ['SSE-C with another key', keyHeaders(other), keyHeaders(other, sourcePrefix)],
  ];
  const pairs = kinds.flatMap((from) => kinds.map((to) => [from[0], to[0], from, to] as const));

  it.each(pairs)('from %s to %s', async (_from, _to, [, put, asSource], [, target]) => {
    for (const body of ['x', 'x'.repeat(200_000)]) {
      const { call } = await testCalls({ layer: { inlineLimit: 1_000 } });
      await call('PUT', path, { headers: put, body });
      const headers = { 'x-amz-copy-source': 'bucket/key', ...asSource, ...target };
      const copied = await call('PUT', '/bucket/copy', { headers });
      expect([copied.status, copied.code]).toEqual([200, undefined]);
      expect((await call('GET', '/bucket/copy', { headers: needed(target) })).body).toBe(body);
    }
  });

  it('without the key of the source are refused', async () => {
    const { call } = await withObject();
    const headers = { 'x-amz-copy-source': 'bucket/key' };
    expect(await call('PUT', '/bucket/copy', { headers })).toMatchObject({ code: 'InvalidRequest' });
    const wrong = { ...headers, ...keyHeaders(other, sourcePrefix) };
    expect(await call('PUT', '/bucket/copy', { headers: wrong })).toMatchObject({ code: 'AccessDenied' });
  });

  it('of an object onto itself give it another key', async () => {
    const { call } = await withObject();
    const headers = { 'x-amz-copy-source': 'bucket/key', ...keyHeaders(mine, sourcePrefix), ...keyHeaders(other) };
    expect((await call('PUT', path, { headers })).code).toBeUndefined();
    expect((await call('GET', path, { headers: keyHeaders(other) })).body).toBe('a secret');
    expect(await call('GET', path, { headers: keyHeaders(mine) })).toMatchObject({ code: 'AccessDenied' });
  });
});

describe('multipart uploads', () => {
  it("under a client's key take parts and copies of parts with it, and read as one", async () => {
    const { call, uploadId } = await begun(keyHeaders(mine));
    await call('PUT', '/bucket/source', { headers: keyHeaders(other), body: 'the end' });
    const first = await call('PUT', part(uploadId, 1), { headers: keyHeaders(mine), body: large });
    expect(first.headers).toMatchObject({ [`${prefix}key-md5`]: md5(mine) });
    const copyHeaders = {
      'x-amz-copy-source': 'bucket/source',
      ...keyHeaders(other, sourcePrefix),
      ...keyHeaders(mine),
    };
    const second = await call('PUT', part(uploadId, 2), { headers: copyHeaders });
    const etags = [first.headers['etag'], /<ETag>(.*)<\/ETag>/.exec(second.body)?.[1]];
    const list = etags
      .map((etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${etag}</ETag></Part>`)
      .join('');
    const done = await call('POST', `${path}?uploadId=${uploadId}`, {
      body: `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`,
    });
    expect(done.code).toBeUndefined();
    const range = `bytes=${large.length - 3}-${large.length + 6}`;
    const answer = await call('GET', path, { headers: { ...keyHeaders(mine), range } });
    expect(answer.body.slice(-7)).toBe('the end');
    expect(await call('GET', path)).toMatchObject({ code: 'InvalidRequest' });
  });

  it.each([
    ['without the key', {}, 'Subsequent part requests must include'],
    ['with another key', keyHeaders(other), 'did not match the ones used originally'],
  ] as const)('refuse a part %s', async (_what, headers, message) => {
    const { call, uploadId } = await begun(keyHeaders(mine));
    expect(await call('PUT', part(uploadId, 1), { headers, body: 'x' })).toMatchObject({
      code: 'InvalidRequest',
      body: expect.stringContaining(message),
    });
  });

  it.each([{}, { 'x-amz-server-side-encryption': 'aws:kms' }] as Record<string, string>[])(
    'that were begun with %o refuse a part with a key',
    async (headers) => {
      const { call, uploadId } = await begun(headers);
      expect(await call('PUT', part(uploadId, 1), { headers: keyHeaders(mine), body: 'x' })).toMatchObject({
        code: 'InvalidRequest',
      });
    },
  );
});

it('keeps no record of uploads with a key that shows it', async () => {
  const { call, records } = await testCalls();
  await call('POST', `${path}?uploads`, { headers: keyHeaders(mine) });
  for await (const item of records.scan(within('u'))) {
    if (item.kind === 'entry') expect(item.value.includes(md5(mine))).toBe(false);
  }
});
