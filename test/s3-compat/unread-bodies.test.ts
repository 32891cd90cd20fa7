import { describe, expect, it } from 'vitest';
import { couldAllow } from '../../protocol/policy/could-allow.ts';
import { decide } from '../../protocol/policy/decide.ts';
import { parsePolicyDocument } from '../../protocol/policy/parse-policy.ts';
import { routes } from '../../server/s3/routes.ts';
import { testCalls } from '../support/s3-api/s3-calls.ts';

/** The requests of each operation, to a bucket that exists and to one that does not. */
const everyOperation = routes.map(([method, level, flags, { name }]) => {
  const path = { service: '/', bucket: '/BUCKET', object: '/BUCKET/key' }[level];
  const names = flags.split(' ').filter((flag) => flag !== '' && flag !== 'copy');
  const query = names.map((flag) => (flag === 'list-type' ? 'list-type=2' : `${flag}=`)).join('&');
  const headers: Record<string, string> = flags.includes('copy') ? { 'x-amz-copy-source': '/bucket/other' } : {};
  return { name, method, target: query === '' ? path : `${path}?${query}`, headers };
});

describe('a caller who may do nothing', () => {
  it.each(everyOperation)('is refused $name before a byte of the body is read', async ({ name, ...asked }) => {
    const { call } = await testCalls({ authorize: () => false });
    const refusals = await Promise.all(
      ['bucket', 'missing'].map((bucket) =>
        call(asked.method, asked.target.replace('BUCKET', bucket), { headers: asked.headers, body: 'x'.repeat(1_000) }),
      ),
    );
    expect(refusals.map(({ bytesRead }) => bytesRead)).toEqual([0, 0]);
    // Everybody may list the buckets that they may see.
    if (name === 'ListBuckets') return;
    expect(refusals.map(({ code }) => code)).toEqual(['AccessDenied', 'AccessDenied']);
    expect(refusals[0]?.body.replaceAll('missing', 'bucket')).toBe(refusals[1]?.body.replaceAll('missing', 'bucket'));
  });
});

describe('a caller who may delete in one bucket', () => {
  const document = parsePolicyDocument({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Action: 's3:DeleteObject', Resource: 'arn:aws:s3:::bucket/mine/*' }],
  });
  const identity = [{ name: 'p', document }];
  const calls = () =>
    testCalls({
      authorize: ({ action, resource, context, unknown }) => {
        const request = { action, resource, context, variables: {} };
        return unknown === undefined
          ? decide({ identity, request }).effect === 'allow'
          : couldAllow({ identity, request }, unknown);
      },
    });
  const body = '<Delete><Object><Key>mine/a</Key></Object><Object><Key>other</Key></Object></Delete>';

  it('is asked for each key there', async () => {
    const { call } = await calls();
    const { status, body: answer } = await call('POST', '/bucket?delete', { body });
    expect(status).toBe(200);
    expect(answer).toContain('<Deleted><Key>mine/a</Key></Deleted>');
    expect(answer).toContain('<Error><Key>other</Key><Code>AccessDenied</Code>');
  });

  it('is refused in any other before the body is read', async () => {
    const { call } = await calls();
    expect(await call('POST', '/others?delete', { body })).toMatchObject({ code: 'AccessDenied', bytesRead: 0 });
  });
});

describe('a document that is too large', () => {
  it.each([
    ['POST', '/bucket?delete', 2 * 1024 * 1024, 'MalformedXML'],
    ['POST', '/bucket/key?uploadId=u', 4 * 1024 * 1024, 'MalformedXML'],
    ['PUT', '/bucket?tagging', 128 * 1024, 'MalformedXML'],
    ['PUT', '/bucket?encryption', 64 * 1024, 'MalformedXML'],
    ['PUT', '/bucket?policy', 20 * 1024, 'MalformedPolicy'],
    ['PUT', '/made', 128 * 1024, 'MalformedXML'],
  ])('of %s %s is refused by its declared length of more than %i', async (method, target, maxBytes, code) => {
    const { call } = await testCalls();
    const body = Buffer.alloc(maxBytes + 1, ' ');
    expect(await call(method, target, { body })).toMatchObject({ code, bytesRead: 0 });
  });

  it('may have 1,000 keys of 1,024 bytes', async () => {
    const { call } = await testCalls();
    const objects = Array.from(
      { length: 1_000 },
      (_, at) => `<Object><Key>${String(at).padEnd(1_024, 'k')}</Key></Object>`,
    );
    const { status } = await call('POST', '/bucket?delete', { body: `<Delete>${objects.join('')}</Delete>` });
    expect(status).toBe(200);
  });
});
