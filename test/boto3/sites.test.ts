import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand, tool } from '../support/process/run-command.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

const python = tool('boto3/bin/python', 'boto3');
const script = fileURLToPath(new URL('sites.py', import.meta.url));
let server: RunningServer;
let outcome: Record<string, unknown>;

beforeAll(async () => {
  server = await startServer();
  await untilReady(server);
  const job = { endpoint: server.s3, accessKey: server.accessKey, secretKey: server.secretKey };
  const options = { input: JSON.stringify(job), env: { NO_PROXY: '*' }, timeoutMs: 110_000 };
  const result = await runCommand(python, [script], options);
  if (result.code !== 0) throw new Error(result.stderr);
  outcome = JSON.parse(result.stdout) as Record<string, unknown>;
}, 360_000);

afterAll(async () => {
  await server?.stop();
});

describe('boto3', () => {
  it('sets, reads and removes the website of a bucket', () => {
    expect(outcome['website']).toEqual({
      none: [404, 'NoSuchWebsiteConfiguration'],
      rules: true,
      redirect: true,
      invalid: [400, 'InvalidArgument'],
      deleted: [404, 'NoSuchWebsiteConfiguration'],
    });
  });

  it('sets, reads and ends the access logs of a bucket', () => {
    expect(outcome['logging']).toEqual({
      none: {},
      enabled: true,
      absent: [400, 'InvalidTargetBucketForLogging'],
      ended: {},
    });
  });

  it('sets, reads, lists and removes an inventory, and reads its report', () => {
    expect(outcome['inventory']).toEqual({
      none: [404, 'NoSuchConfiguration'],
      found: true,
      listed: true,
      mismatch: [400, 'IdMismatch'],
      ORC: [501, 'NotImplemented'],
      checksum: true,
      schema: 'Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, ETag, StorageClass',
      files: true,
      rows: [
        ['"site"', '"a%20b"', '""', '"true"', '"false"', '"3"'],
        ['"site"', '"gr%C3%B6%C3%9Fe%2B1"', '""', '"true"', '"false"', '"9"'],
        ['"site"', '"plain"', '""', '"true"', '"false"', '"5"'],
      ],
      deleted: [404, 'NoSuchConfiguration'],
    });
  });

  it('stores who pays and what is accelerated', () => {
    expect(outcome['charges']).toEqual({
      payer: { Payer: 'BucketOwner' },
      speed: {},
      requester: { Payer: 'Requester' },
      Enabled: { Status: 'Enabled' },
      Suspended: { Status: 'Suspended' },
      nobody: [400, 'MalformedXML'],
    });
  });
});
