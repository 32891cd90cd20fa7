import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../platform/output/logger.ts';
import { knownClaims } from '../../protocol/policy/known-names.ts';
import { federated } from '../../test/support/auth/identities.ts';
import { createTemporaryCredentials } from '../auth/temporary-credentials.ts';
import { noKeySource } from '../encryption/key-source.ts';
import { sealedRecords } from '../encryption/sealed-records.ts';
import { createRequestListener } from '../http/request-listener.ts';
import { createS3Server } from '../http/s3-server.ts';
import { answerFailure } from '../process/dispatch.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';

let served: ReturnType<typeof createS3Server> | undefined;
afterEach(() => served?.connections.drain(0));

const nextRequestId = () => '0123456789ABCDEF';

async function serve(): Promise<string> {
  const listener = createRequestListener({
    handle: () => Promise.resolve({ status: 200, headers: {}, body: { kind: 'bytes', bytes: Buffer.from('ok') } }),
    answerFailure,
    secure: false,
    nextRequestId,
    log: createLogger({ name: 'test', level: 'silent' }),
  });
  served = createS3Server({ listener, nextRequestId });
  const { server } = served;
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/bucket/key`;
}

const policies = Array.from({ length: 1_000 }, (_, at) => `policy-${at}-${'n'.repeat(100)}`);
const claims = Object.fromEntries(knownClaims.map((name) => [name, 'é'.repeat(1_024)]));

describe('the session token of the largest credentials', () => {
  it.each([
    ['of policies in a claim', {}],
    ['of a role', { roleArn: `arn:minio:iam:::role/${'r'.repeat(28)}` }],
  ])('%s fits into a request', async (_, role) => {
    const records = sealedRecords({ records: new MemoryRecordStore(), keys: noKeySource });
    await records.start();
    const store = createTemporaryCredentials({ records, tokenKey: new Uint8Array(64), clock: () => new Date() });
    const { sessionToken } = await store.create({
      subject: federated({ policies, claims }),
      parentName: 'parent-of-ann',
      sessionPolicy: JSON.stringify({
        Version: '2012-10-17',
        Statement: [{ Sid: 's'.repeat(1_900), Effect: 'Allow', Action: 's3:*', Resource: '*' }],
      }),
      expiration: new Date(Date.now() + 3_600_000),
      ...role,
    });
    const headers = {
      'x-amz-security-token': sessionToken,
      authorization: `AWS4-HMAC-SHA256 ${'h'.repeat(1_024)}`,
      // The most that S3 takes.
      'x-amz-meta-text': 'm'.repeat(2_048),
    };
    expect((await fetch(await serve(), { headers })).status).toBe(200);
  });
});
