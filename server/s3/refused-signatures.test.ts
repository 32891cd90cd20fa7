import { beforeAll, describe, expect, it } from 'vitest';
import { type Expected, mismatch, mismatchV4, rules, temporary } from '../../test/support/s3-api/broken-signatures.ts';
import {
  domain,
  everyRequest,
  now,
  root,
  type SentRequest,
  sign,
  ways,
} from '../../test/support/s3-api/sign-every-way.ts';
import { type TestCalls, testCalls } from '../../test/support/s3-api/s3-calls.ts';
import { createAuthenticator } from '../auth/access.ts';

/**
 * Requests that break one rule of one way to sign. The rules are spread over the operations, so that each row is for another one: status,
 * code, message and the elements of the XML must be exact, and no body may be read.
 */
const secret = { accessKey: 'root', secretKey: 'another-password' };

let test: TestCalls;
let strict: TestCalls;
beforeAll(async () => {
  const credentials = {
    credentials: (accessKey: string) => {
      if (accessKey === root.accessKey) return Promise.resolve(root);
      return Promise.resolve(
        accessKey === temporary.accessKey ? { ...temporary, principal: root.principal } : undefined,
      );
    },
    issuedButExpired: (_accessKey: string, token: string) => Promise.resolve(token === 'expired'),
  };
  const options = { credentials, region: 'us-east-1', clock: () => now };
  test = await testCalls({ authenticate: createAuthenticator({ ...options, signatureV2: 'on' }), domains: [domain] });
  strict = await testCalls({ authenticate: createAuthenticator({ ...options, signatureV2: 'off' }) });
});

async function refuse({ call }: TestCalls, sent: SentRequest, { status, code, message, details = [] }: Expected) {
  const reply = await call(sent.method, sent.target, { headers: sent.headers, body: 'body' });
  expect({ status: reply.status, code: reply.code, bytesRead: reply.bytesRead }, reply.body).toEqual({
    status,
    code,
    bytesRead: 0,
  });
  if (typeof message === 'string') expect(reply.body).toBe(message);
  else expect(reply.body).toMatch(message);
  const elements = [...reply.refusal.matchAll(/<(\w+)>[^<]*<\/\1>/g)].map(([, name]) => name);
  expect(elements).toEqual(['Code', 'Message', ...details, 'Resource', 'RequestId', 'HostId']);
  expect(reply.refusal).toMatch(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n<Error>.*<\/Error>$/s);
}

/** Version 2 does not sign the `id` of a configuration, so that all its requests with one are refused alike. */
const wholeSigned = everyRequest.filter(([, { query }]) => query?.['id'] === undefined);

/** Each rule is broken on the next operation. */
const spread = rules
  .flatMap(([what, each, make, expected]) => each.map((way) => ({ way, what, make, expected })))
  .map(({ way, what, make, expected }, index) => {
    const [name, request] = wholeSigned[(index * 7) % wholeSigned.length] ?? never();
    return [way, what, name, make, request, expected] as const;
  });

function never(): never {
  throw new Error('there are operations');
}

describe('a request that breaks a rule of its signature', () => {
  it.each(spread)('%s: %s, with %s', async (way, _what, _name, make, request, expected) => {
    await refuse(test, make(request, way), expected);
  });

  it.each(everyRequest)('with another secret is refused by every way: %s', async (_, request) => {
    for (const way of ways) {
      await refuse(test, sign(way, request, secret), way.endsWith('V4') ? mismatchV4 : mismatch);
    }
  });

  it.each(everyRequest)('by version 2 is refused where that is off: %s', async (_, request) => {
    const message = 'The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.';
    for (const way of ['header V2', 'URL V2'] as const) {
      await refuse(strict, sign(way, request, root), { status: 400, code: 'InvalidRequest', message });
    }
  });

  /** As in AWS and MinIO: what no caller can ask for needs no signature to be refused, and says nothing about a bucket. */
  it.each([
    ['PATCH', '/bucket/key', 405, 'MethodNotAllowed'],
    ['POST', '/bucket/key', 405, 'MethodNotAllowed'],
    ['POST', '/', 405, 'MethodNotAllowed'],
    ['DELETE', '/bucket?versioning', 405, 'MethodNotAllowed'],
    ['PUT', '/bucket?versions', 405, 'MethodNotAllowed'],
    ['GET', '/bucket/key?torrent', 501, 'NotImplemented'],
    ['GET', '/bucket?acl&policy', 400, 'InvalidArgument'],
    ['GET', '/bucket/key?cors', 400, 'InvalidRequest'],
    // There is such an operation.
    ['PUT', '/bucket?versioning', 403, 'SignatureDoesNotMatch'],
    ['GET', '/bucket/key', 403, 'SignatureDoesNotMatch'],
  ])('is asked for its signature after it has an operation: %s %s', async (method, target, status, code) => {
    for (const path of [target, target.replace('/bucket', '/absent')]) {
      const [rawPath = '', query = ''] = path.split('?');
      const named = Object.fromEntries(query === '' ? [] : query.split('&').map((name) => [name, '']));
      const sent = sign('header V4', { method, path: rawPath, query: named, headers: {} }, secret);
      const reply = await test.call(sent.method, sent.target, { headers: sent.headers, body: 'body' });
      expect(reply).toMatchObject({ status, code, bytesRead: 0 });
    }
  });

  it('are enough, and spread over the operations', () => {
    expect(spread.length + 6 * everyRequest.length).toBeGreaterThan(400);
    expect(new Set(spread.map(([, , name]) => name)).size).toBeGreaterThan(35);
  });
});
