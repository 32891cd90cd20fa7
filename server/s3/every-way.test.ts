import { describe, expect, it } from 'vitest';
import { parseBucketPolicy } from '../../protocol/policy/parse-policy.ts';
import {
  domain,
  everyRequest,
  now,
  type PlainRequest,
  root,
  sign,
  ways,
} from '../../test/support/s3-api/sign-every-way.ts';
import { type Reply, testCalls } from '../../test/support/s3-api/s3-calls.ts';
import { createAuthenticator } from '../auth/access.ts';
import { authorize } from '../auth/authorize.ts';
import type { AccessRequest } from '../auth/principal.ts';

const authenticate = createAuthenticator({
  credentials: { credentials: (accessKey) => Promise.resolve(accessKey === root.accessKey ? root : undefined) },
  signatureV2: 'on',
  clock: () => now,
});

async function calls(allows: (request: AccessRequest) => Promise<boolean> = () => Promise.resolve(true)) {
  const test = await testCalls({ authenticate, authorize: allows, domains: [domain] });
  await test.call('PUT', '/bucket/key', { ...sign('header V4', put, root), body: 'content' });
  return test;
}
const put: PlainRequest = { method: 'PUT', path: '/bucket/key', query: {}, headers: {} };

const outcome = ({ status, code }: Reply) => ({ status, code });
const signatureErrors = /Signature|Authorization|AccessKey|AccessDenied|Token/;

/** Version 2 does not cover the ID of a configuration, so that these operations refuse it. */
const everyWay = everyRequest.filter(([name]) => !name.includes('?id '));

describe('every operation', () => {
  it.each(everyWay)('is the same by every way to sign it, in both styles of addresses: %s', async (_, request) => {
    const reference = sign('header V4', request, root);
    const expected = outcome(
      await (await calls()).call(request.method, reference.target, { headers: reference.headers }),
    );
    expect(expected.code ?? '').not.toMatch(signatureErrors);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const shared = await calls();
    for (const way of ways) {
      for (const hosted of request.path === '/' ? [false] : [false, true]) {
        const sent = sign(way, request, root, { hosted });
        const { call } = isRead ? shared : await calls();
        const answer = outcome(await call(sent.method, sent.target, { headers: sent.headers }));
        expect(answer, `${way}, ${hosted ? 'host' : 'path'}: ${sent.target}`).toEqual(expected);
      }
    }
  });

  it.each(everyRequest.filter(([, { path }]) => path !== '/'))(
    'is for an anonymous caller where the policy of the bucket allows it, but for queries: %s',
    async (name, request) => {
      const reference = sign('header V4', request, root);
      const expected = outcome(
        await (await calls()).call(request.method, reference.target, { headers: reference.headers }),
      );
      const statement = {
        Effect: 'Allow',
        Principal: '*',
        Action: 's3:*',
        Resource: ['arn:aws:s3:::bucket', 'arn:aws:s3:::bucket/*'],
      };
      const policy = parseBucketPolicy(JSON.stringify({ Version: '2012-10-17', Statement: [statement] }), 'bucket');
      for (const [allowed, document] of [
        [true, policy],
        [false, undefined],
      ] as const) {
        const { call } = await calls(async (asked) => {
          const holders = {
            policiesOf: () => Promise.resolve([]),
            groupsOf: () => Promise.resolve([]),
            policy: () => Promise.resolve(undefined),
          };
          const sources = {
            bucketAccess: () => Promise.resolve(document === undefined ? undefined : { policy: document }),
            objectTags: () => Promise.resolve(undefined),
            objectAcl: () => Promise.resolve(undefined),
          };
          return (await authorize(asked, holders, sources)).kind === 'allow';
        });
        const query = Object.entries(request.query).map(([name, value]) => (value === '' ? name : `${name}=${value}`));
        const target = query.length === 0 ? request.path : `${request.path}?${query.join('&')}`;
        const answer = outcome(await call(request.method, target, { headers: request.headers }));
        const isTaken = allowed && !name.startsWith('SelectObjectContent');
        expect(answer, target).toEqual(isTaken ? expected : { status: 403, code: 'AccessDenied' });
      }
    },
  );

  it('of the service is for no anonymous caller', async () => {
    const { call } = await calls(({ principal }) => Promise.resolve(principal.kind !== 'anonymous'));
    expect(outcome(await call('GET', '/'))).toEqual({ status: 403, code: 'AccessDenied' });
  });
});

const chunks = (crc: string) => `5\r\nhello\r\n0\r\nx-amz-checksum-crc32:${crc}\r\n\r\n`;

describe('unsigned chunks with a trailer', () => {
  const payloadHash = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';
  const announced = { 'x-amz-decoded-content-length': '5', 'x-amz-trailer': 'x-amz-checksum-crc32' };

  it.each([...ways, 'nobody'] as const)('are taken and compared, signed by %s', async (way) => {
    // The signatures of version 2 cover the header, where those of version 4 have the hash in their text.
    const isVersion4 = way === 'header V4' || way === 'URL V4';
    const headers = isVersion4 ? announced : { ...announced, 'x-amz-content-sha256': payloadHash };
    const request = { ...put, path: '/bucket/chunks', headers };
    const sent = way === 'nobody' ? { target: request.path, headers } : sign(way, request, root, { payloadHash });
    const { call } = await calls();
    const wrong = await call('PUT', sent.target, { headers: sent.headers, body: chunks('AAAAAA==') });
    expect(wrong.status).toBe(400);
    expect(await call('PUT', sent.target, { headers: sent.headers, body: chunks('NhCmhg==') })).toMatchObject({
      status: 200,
    });
    const read = sign('header V4', { ...request, method: 'GET', headers: {} }, root);
    expect(await call('GET', read.target, { headers: read.headers })).toMatchObject({ body: 'hello' });
  });
});
