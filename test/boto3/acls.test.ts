import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand, tool } from '../support/process/run-command.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

const python = tool('boto3/bin/python', 'boto3');
const script = fileURLToPath(new URL('acls.py', import.meta.url));
let server: RunningServer;
let outcome: Record<string, unknown>;

beforeAll(async () => {
  server = await startServer({ env: { SVC_DOMAIN: 's3.test' } });
  await untilReady(server);
  const control = `http://s3.test:${new URL(server.s3).port}`;
  const job = { endpoint: server.s3, control, accessKey: server.accessKey, secretKey: server.secretKey };
  const result = await runCommand(python, [script], { input: JSON.stringify(job), env: { NO_PROXY: '*' } });
  if (result.code !== 0) throw new Error(result.stderr);
  outcome = JSON.parse(result.stdout) as Record<string, unknown>;
}, 360_000);

afterAll(async () => {
  await server?.stop();
});

it('boto3 sets and reads ACLs, ownership controls and public access blocks, and renames an object', () => {
  const own = ['CanonicalUser', 'FULL_CONTROL'];
  expect(outcome).toEqual({
    enforced: [[{ ObjectOwnership: 'BucketOwnerEnforced' }], [400, 'AccessControlListNotSupported'], [own]],
    granted: [
      [own, ['Group', 'READ']],
      [
        ['Group', 'READ'],
        ['Group', 'WRITE_ACP'],
      ],
    ],
    'with ACL': [400, 'InvalidBucketAclWithObjectOwnership'],
    block: [true, [403, 'AccessDenied']],
    'no block': [404, 'NoSuchPublicAccessBlockConfiguration'],
    renamed: 'content',
    account: [
      [404, 'NoSuchPublicAccessBlockConfiguration'],
      true,
      [403, 'AccessDenied'],
      [200, 'no error'],
      [403, 'AccessDenied'],
      [{ Key: 'c', Value: 'ä' }],
    ],
  });
});
