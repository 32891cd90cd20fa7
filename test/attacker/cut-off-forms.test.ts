import { connect } from 'node:net';
import { CreateBucketCommand, PutBucketPolicyCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

let server: RunningServer;

beforeAll(async () => {
  server = await startServer();
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

/** Sends the begin of a request, and cuts the connection as told. */
function cutOff(head: string, body: string, how: 'end' | 'reset'): Promise<void> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(server.s3);
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

it('writes no line of an error for anonymous forms that are cut off', async () => {
  for (const bucket of ['forms', 'open', 'absent']) {
    for (const framing of framings) {
      for (const beginning of beginnings) {
        for (const how of ['end', 'reset'] as const) {
          const head = `POST /${bucket} HTTP/1.1\r\nHost: test\r\nContent-Type: multipart/form-data; boundary=b\r\n${framing}\r\n`;
          const chunked = framing.startsWith('T') && beginning !== '';
          const body = chunked ? `${beginning.length.toString(16)}\r\n${beginning}\r\n` : beginning;
          await cutOff(head, body, how);
        }
      }
    }
  }
  // Its log is whole then.
  await server.stop();
  const lines = server.log.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as { level: unknown });
  expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
});
