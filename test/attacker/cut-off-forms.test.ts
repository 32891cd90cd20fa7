import { connect } from 'node:net';
import { CreateBucketCommand, PutBucketPolicyCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { forEachLimit } from '../../platform/async/concurrency.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

let server: RunningServer;

beforeAll(async () => {
  server = await startServer({ console: true });
  await untilReady(server);
  const client = s3Client(server);
  // Of `forms` the sender is refused when its fields are read; of `open` the file is read too.
  for (const Bucket of ['forms', 'open']) await client.send(new CreateBucketCommand({ Bucket }));
  const Statement = [{ Effect: 'Allow', Principal: '*', Action: 's3:PutObject', Resource: 'arn:aws:s3:::open/*' }];
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement });
  await client.send(new PutBucketPolicyCommand({ Bucket: 'open', Policy }));
});
afterAll(() => server.kill());

const fields = '--b\r\nContent-Disposition: form-data; name="key"\r\n\r\na\r\n';
const file = '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n';
/** The beginnings of a form, after which the connection is cut. */
const beginnings = ['', '--', fields.slice(0, 30), fields, fields + file, `${fields}${file}content\r\n--b`];
const framings = ['Content-Length: 5000\r\n', 'Transfer-Encoding: chunked\r\n'];

const form = 'application/x-www-form-urlencoded';
const credentials = 'Action=AssumeRoleWithWebIdentity&Version=2011-06-15&WebIdent';

/** Posts that anybody may begin: of buckets, of the admin API, for credentials, and of the console. */
const targets = (): readonly (readonly [base: string, path: string, type: string, bodies: readonly string[]])[] => [
  ...['forms', 'open', 'absent'].map(
    (bucket) => [server.s3, `/${bucket}`, 'multipart/form-data; boundary=b', beginnings] as const,
  ),
  ...['/', '/?Action=AssumeRoleWithWebIdentity&Version=2011-06-15', '/open'].map(
    (path) => [server.s3, path, form, ['', credentials]] as const,
  ),
  ...['/open?delete', '/open/key?uploads', '/open/key?select&select-type=2', '/open/key?uploadId=x'].map(
    (path) => [server.s3, path, 'application/xml', ['', '<Delete><Obj']] as const,
  ),
  [server.s3, '/minio/admin/v3/add-service-account', 'application/json', ['', '{"policy":']],
  ...['/api/sign-in', '/api/sign-in-by-directory', '/api/buckets'].map(
    (path) => [server.console, path, 'application/json', ['', '{"accessKey":']] as const,
  ),
];

/** Sends the begin of a request, and cuts the connection as told. */
function cutOff(base: string, head: string, body: string, how: 'end' | 'reset'): Promise<void> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(base);
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      socket.write(`${head}${body}`, () => {
        if (how === 'end') socket.end();
        else setTimeout(() => socket.resetAndDestroy(), 20);
      });
    });
    socket.resume();
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
  });
}

const chunkOf = (text: string) => (text === '' ? '' : `${text.length.toString(16)}\r\n${text}\r\n`);

it('writes no line of an error for anonymous posts that are cut off', { timeout: 360_000 }, async () => {
  const requests = targets().flatMap(([base, path, type, bodies]) =>
    framings.flatMap((framing) =>
      bodies.map((text) => {
        const head = `POST ${path} HTTP/1.1\r\nHost: test\r\nContent-Type: ${type}\r\n${framing}\r\n`;
        return { base, head, body: framing.startsWith('T') ? chunkOf(text) : text };
      }),
    ),
  );
  await forEachLimit(requests, 16, async ({ base, head, body }) => {
    for (const how of ['end', 'reset'] as const) await cutOff(base, head, body, how);
  });
  // Its log is whole then.
  await server.stop();
  const lines = server.log.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as { level: unknown });
  expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
});
