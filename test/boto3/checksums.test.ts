import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand, tool } from '../support/process/run-command.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

const python = tool('boto3/bin/python', 'boto3');
const script = fileURLToPath(new URL('checksums.py', import.meta.url));
let server: RunningServer;
let outcome: Record<string, unknown>;

beforeAll(async () => {
  server = await startServer();
  await untilReady(server);
  const job = { endpoint: server.s3, accessKey: server.accessKey, secretKey: server.secretKey };
  const result = await runCommand(python, [script], {
    input: JSON.stringify(job),
    env: { NO_PROXY: '*' },
    timeoutMs: 110_000,
  });
  if (result.code !== 0) throw new Error(result.stderr);
  outcome = JSON.parse(result.stdout) as Record<string, unknown>;
}, 360_000);

afterAll(async () => {
  await server?.stop();
});

it.each([
  ['CRC32', 'COMPOSITE'],
  ['CRC32C', 'COMPOSITE'],
  ['CRC64NVME', 'FULL_OBJECT'],
  ['SHA1', 'COMPOSITE'],
  ['SHA256', 'COMPOSITE'],
  ['SHA512', 'COMPOSITE'],
  ['XXHASH64', 'COMPOSITE'],
  ['XXHASH3', 'COMPOSITE'],
  ['XXHASH128', 'COMPOSITE'],
])('boto3 computes %s by header, trailer and parts, and Coffer compares it', (algorithm, type) => {
  expect(outcome[algorithm]).toEqual([[true], [true, type, 2], [400, 'BadDigest']]);
});
