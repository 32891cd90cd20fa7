import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import {
  CreateBucketCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
  SelectObjectContentCommand,
  type SelectObjectContentCommandInput,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rejects } from 'node:assert/strict';
import { inFullForm } from '../support/full-form.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

const Bucket = 'bucket';
/** Rows of 97 bytes. `npm test` reads a tenth of what the gate reads. */
const rows = inFullForm(1_000_000, 100_000);
let folder: string;
let server: RunningServer;
let client: S3Client;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-select-'));
  server = await startServer({ folder, env: { SVC_THREADS: '1' } });
  await untilReady(server);
  client = s3Client(server);
  await client.send(new CreateBucketCommand({ Bucket }));
});
afterAll(async () => {
  await server.kill();
  await rm(folder, { recursive: true, force: true });
});

type Query = Partial<SelectObjectContentCommandInput> & { readonly Key: string; readonly Expression: string };

async function events(query: Query, to = client) {
  const { Payload } = await to.send(
    new SelectObjectContentCommand({
      Bucket,
      ExpressionType: 'SQL',
      InputSerialization: { CSV: { FileHeaderInfo: 'USE' } },
      OutputSerialization: { CSV: {} },
      ...query,
    }),
  );
  const all = [];
  for await (const event of Payload ?? []) all.push(event);
  return all;
}

async function select(query: Query, to = client): Promise<string> {
  const all = await events(query, to);
  return all.map(({ Records }) => Buffer.from(Records?.Payload ?? []).toString()).join('');
}

const put = (Key: string, Body: string | Buffer) => client.send(new PutObjectCommand({ Bucket, Key, Body }));

const isProgress = (event: object) => 'Progress' in event;

describe('a query by the AWS SDK', { timeout: 360_000 }, () => {
  it('gets records, statistics and the end', async () => {
    const bytes = gzipSync('name,age\nAda,36\nGrace,85\n');
    await put('people.csv.gz', bytes);
    const all = await events({
      Key: 'people.csv.gz',
      Expression: 'SELECT name FROM S3Object WHERE age > 40',
      InputSerialization: { CSV: { FileHeaderInfo: 'USE' }, CompressionType: 'GZIP' },
      RequestProgress: { Enabled: true },
    });
    const details = { BytesScanned: bytes.length, BytesProcessed: 25, BytesReturned: 6 };
    expect(all.findLast(isProgress)).toMatchObject({ Progress: { Details: details } });
    // A slow machine tells of progress before the first record, too.
    expect(all.filter((event) => !isProgress(event))).toMatchObject([
      { Records: {} },
      { Stats: { Details: details } },
      { End: {} },
    ]);
  });

  it('reads a version', async () => {
    await client.send(new CreateBucketCommand({ Bucket: 'versions' }));
    await client.send(
      new PutBucketVersioningCommand({ Bucket: 'versions', VersioningConfiguration: { Status: 'Enabled' } }),
    );
    const first = await client.send(new PutObjectCommand({ Bucket: 'versions', Key: 'k', Body: 'a\n1\n' }));
    await client.send(new PutObjectCommand({ Bucket: 'versions', Key: 'k', Body: 'a\n2\n' }));
    const query = { Bucket: 'versions', Key: 'k', Expression: 'SELECT a FROM S3Object' };
    expect(await select(query)).toBe('2\n');
    // The SDK has no parameter for it.
    const versioned = s3Client(server);
    versioned.middlewareStack.add(
      (next) => (args) => {
        const { query: parameters } = args.request as { query: Record<string, string> };
        parameters['versionId'] = first.VersionId ?? '';
        return next(args);
      },
      { step: 'build' },
    );
    expect(await select(query, versioned)).toBe('1\n');
  });

  it.each([
    ['MissingHeaders', 'SELECT other FROM S3Object', 'people.csv'],
    ['ParseUnexpectedToken', 'SELECT = FROM S3Object', 'people.csv'],
    ['NoSuchKey', 'SELECT * FROM S3Object', 'absent'],
  ])('is refused with %s', async (name, Expression, Key) => {
    await put('people.csv', 'name\nAda\n');
    await rejects(select({ Key, Expression }), { name });
  });

  it('over a large object streams in the memory that it needs', async () => {
    const line = `${'x'.repeat(90)},12345\n`;
    await put('large.csv', Buffer.from(`text,number\n${line.repeat(rows)}`));
    const Expression = 'SELECT COUNT(*), SUM(number) FROM S3Object';
    expect(await select({ Key: 'large.csv', Expression })).toBe(`${rows},${rows * 12_345}\n`);
    const Key = 'large.csv';
    expect((await select({ Key, Expression: 'SELECT * FROM S3Object' })).length).toBe(rows * 97);
  });

  it('ends when the client leaves, and others run', async () => {
    const query = { Key: 'large.csv', Expression: 'SELECT * FROM S3Object' };
    for (let count = 0; count < 6; count += 1) {
      const aborter = new AbortController();
      const { Payload } = await client.send(
        new SelectObjectContentCommand({
          Bucket,
          ExpressionType: 'SQL',
          InputSerialization: { CSV: {} },
          OutputSerialization: { CSV: {} },
          ...query,
        }),
        { abortSignal: aborter.signal },
      );
      for await (const { Records } of Payload ?? []) if (Records !== undefined) break;
      aborter.abort();
    }
    // Queries have what the other programs of the machine leave, so that those of this test are short.
    const few = 10_000;
    await put('short.csv', Buffer.from(`text,number\n${'a,1\n'.repeat(few)}`));
    const Expression = 'SELECT COUNT(*) FROM S3Object';
    const counts = await Promise.all(Array.from({ length: 5 }, () => select({ Key: 'short.csv', Expression })));
    expect(counts).toEqual(Array.from({ length: 5 }, () => `${few}\n`));
  });
});
