import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../platform/output/logger.ts';
import { connectRaw } from '../../test/support/process/raw-http.ts';
import { createAuthenticator } from '../auth/access.ts';
import { testLayer } from '../../test/support/objects/test-layer.ts';
import { CrossOrigin } from '../s3/cross-origin.ts';
import { createS3Api } from '../s3/s3-api.ts';
import { createStsHandler } from '../sts/sts-handler.ts';
import { createDispatch } from '../process/dispatch.ts';
import { createS3Server } from './s3-server.ts';
import { createRequestListener } from './request-listener.ts';

const nextRequestId = () => '0123456789ABCDEF';
let url = '';
let server: ReturnType<typeof createS3Server>;

/** Everything behind the port, with the bucket `bucket`, and nobody who may do anything. */
beforeAll(async () => {
  const { layer } = testLayer();
  await layer.createBucket('bucket', { location: '' });
  const log = createLogger({ name: 'test', level: 'silent' });
  const s3 = createS3Api({
    objects: layer,
    region: 'us-east-1',
    clock: () => new Date(),
    crossOrigin: new CrossOrigin(layer, ['*']),
    authenticate: createAuthenticator({ credentials: { credentials: () => Promise.resolve(undefined) } }),
    authenticateForm: () => Promise.resolve(undefined),
    access: {
      credentials: () => Promise.resolve(undefined),
      authorize: () => Promise.resolve({ kind: 'deny', reason: 'the test says so' }),
    },
  });
  const dispatch = createDispatch({
    readiness: () => ({ kind: 'ready' }),
    handlers: () => ({ s3, sts: createStsHandler({ actions: [], log }), admin: s3 }),
    metrics: s3,
  });
  server = createS3Server({
    listener: createRequestListener({ handle: dispatch, secure: false, nextRequestId, log }),
    nextRequestId,
  });
  await new Promise<void>((resolve) => {
    server.server.listen(0, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
});
afterAll(() => server.connections.drain(0));

const form = 'Content-Type: application/x-www-form-urlencoded\r\n';
const scope = 'NOBODY/20260101/us-east-1/s3/aws4_request';
const unknownKey = `Authorization: AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=${'0'.repeat(64)}\r\nx-amz-date: 20260101T000000Z\r\n`;

describe('a head that announces 8 MiB is refused though none of them comes', () => {
  it.each([
    ['POST /missing?delete', '', 403],
    ['POST /bucket?delete', '', 403],
    ['POST /bucket/key?uploadId=x', '', 403],
    ['POST /bucket/key?uploads', '', 403],
    ['PUT /bucket?tagging', '', 403],
    ['PUT /bucket?policy', '', 403],
    ['PUT /bucket?encryption', '', 403],
    ['PUT /made', '', 403],
    ['PUT /bucket/key', '', 403],
    ['PUT /bucket/key?uploadId=x&partNumber=1', '', 403],
    ['GET /bucket/key', '', 403],
    ['POST /bucket?delete', unknownKey, 403],
    ['POST /bucket', '', 412],
    ['POST /', form, 400],
    ['POST /?Action=AssumeRole', '', 400],
    ['GET /minio/health/live', '', 200],
    ['GET /minio/health/ready', '', 200],
  ])('%s', async (line, headers, status) => {
    const connection = connectRaw(url);
    connection.send(`${line} HTTP/1.1\r\nHost: test\r\n${headers}Content-Length: 8388608\r\n\r\n`);
    expect(await connection.until('\r\n\r\n')).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    connection.socket.destroy();
  });

  it('and the same where it is sent in chunks of unknown number', async () => {
    const connection = connectRaw(url);
    connection.send('POST /bucket?delete HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n');
    expect(await connection.until('\r\n\r\n')).toMatch(/^HTTP\/1.1 403 /);
    connection.socket.destroy();
  });
});

it('a form of STS that is longer than it may be is refused once that is known', async () => {
  const connection = connectRaw(url);
  connection.send(`POST / HTTP/1.1\r\nHost: test\r\n${form}Transfer-Encoding: chunked\r\n\r\n10001\r\n`);
  connection.send(`${'a'.repeat(0x10001)}\r\n`);
  expect(await connection.until('\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /);
  connection.socket.destroy();
});
