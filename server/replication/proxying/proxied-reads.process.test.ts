import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { targetArn } from '../../../protocol/s3/bucket-replication.ts';
import { outboxKeys } from '../../objects/events/outbox.ts';
import { replicationQueue } from '../../objects/replication/queue-replication.ts';
import { commitOnce } from '../../store/commits.ts';
import { putUnpromoted, requirePromoted } from '../../store/promotion.ts';
import { MemoryRecordStore } from '../../store/memory/record-store.ts';
import { remoteTarget } from '../../../test/support/replication/remote-target.ts';
import { ProxiedReads } from './proxied-reads.ts';

const id = '6a9a8c5e-0c39-4b0b-9d58-1f8e2f0b8a11';
const arn = targetArn(id, 'other');
const read = {
  method: 'GET',
  bucket: 'bucket',
  key: 'in/key',
  versionId: undefined,
  partNumber: undefined,
  headers: {},
} as const;

let answer: (request: IncomingMessage, response: ServerResponse) => void;
let asked: IncomingMessage[];
const server = createServer((request, response) => {
  asked.push(request);
  answer(request, response);
});
const withBody: typeof answer = (_request, response) => {
  response.writeHead(200, { 'content-length': 4, etag: '"e"' }).end('body');
};

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked = [];
  answer = withBody;
});

interface Given {
  readonly disableProxy?: boolean;
  readonly status?: 'Enabled' | 'Suspended';
  readonly prefix?: string;
  readonly deletes?: boolean;
  /** A second rule of the target for part of the bucket, which does not replicate removals. */
  readonly keeps?: string;
  readonly clock?: () => number;
  readonly answerMs?: number;
}

const keeping = (prefix: string) => ({ id: 'keeps', priority: 2, filter: { prefix }, deletes: false });

function reads({
  disableProxy = false,
  status = 'Enabled',
  prefix = 'in/',
  deletes = true,
  keeps,
  ...more
}: Given = {}) {
  const records = new MemoryRecordStore();
  const counted: unknown[] = [];
  const { port } = server.address() as AddressInfo;
  const stored = remoteTarget(id, { endpoint: `127.0.0.1:${port}`, disableProxy });
  const rule = {
    id: 'all',
    enabled: true,
    priority: 1,
    filter: { prefix },
    target: arn,
    destination: arn,
    deleteMarkers: true,
  };
  const proxied = new ProxiedReads({
    records,
    targets: { get: () => Promise.resolve(stored) },
    objects: {
      getBucketVersioning: () => Promise.resolve({ status }),
      getBucketReplication: () =>
        Promise.resolve({
          rules: [
            { ...rule, deletes, replicaModifications: true, existingObjects: true },
            ...(keeps === undefined
              ? []
              : [{ ...rule, ...keeping(keeps), replicaModifications: true, existingObjects: true }]),
          ],
        }),
    },
    counts: { count: (...one) => void counted.push(one) },
    requirePromoted: () => requirePromoted(records),
    maxInFlight: 2,
    ...more,
  });
  return { proxied, counted, records };
}

it('asks for what the target has itself', async () => {
  const { proxied, counted } = reads();
  const found = await proxied.read({ ...read, headers: { range: 'bytes=0-' } });
  expect(found).toMatchObject({ status: 200, size: 4, headers: { etag: '"e"' } });
  await found?.body?.close();
  expect(asked[0]?.url).toBe('/other/in/key');
  expect(asked[0]?.headers).toMatchObject({ 'x-minio-source-proxy-request': 'true', range: 'bytes=0-' });
  expect(counted).toEqual([[id, 'GET', false]]);
});

it.each<[string, Given]>([
  ['whose target says so', { disableProxy: true }],
  ['of a bucket that keeps no versions', { status: 'Suspended' }],
  ['that no rule replicates', { prefix: 'out/' }],
  ['whose removals are not replicated: what was removed for good is there', { deletes: false }],
  ['whose removals another rule of the target does not replicate', { keeps: 'in/' }],
])('does not pass on a read %s', async (_what, given) => {
  expect(await reads(given).proxied.read(read)).toBeUndefined();
  expect(asked).toEqual([]);
});

it('passes on a read beside a rule of the target for other keys', async () => {
  const found = await reads({ keeps: 'in/other/' }).proxied.read(read);
  expect(found?.status).toBe(200);
  await found?.body?.close();
});

it('refuses a read that a target might answer while the store must be promoted, since absent here is not absent', async () => {
  const { proxied, records } = reads();
  const mark = putUnpromoted({ since: new Date(0).toISOString(), reason: 'restored' });
  await commitOnce(records, { put: [mark] }, (size) => Buffer.alloc(size));
  await expect(proxied.read(read)).rejects.toMatchObject({ code: 'unpromoted' });
  await expect(proxied.readTags(read)).rejects.toMatchObject({ code: 'unpromoted' });
  expect(asked).toEqual([]);
});

it('does not pass on a read of an object with a change that the target has not got, such as a removal', async () => {
  const { proxied, records } = reads();
  const change = outboxKeys.event(replicationQueue(id), read, Buffer.alloc(16, 1));
  await commitOnce(records, { put: [{ key: change, value: Buffer.from('x') }] }, (size) => Buffer.alloc(size));
  expect(await proxied.read(read)).toBeUndefined();
  const other = await proxied.read({ ...read, key: 'in/other' });
  await other?.body?.close();
  expect(asked.map(({ url }) => url)).toEqual(['/other/in/other']);
});

it('has a bounded number of answers at the same time', async () => {
  const { proxied } = reads();
  const open = [await proxied.read(read), await proxied.read(read)];
  expect(await proxied.read(read)).toBeUndefined();
  for (const one of open) await one?.body?.close();
  const next = await proxied.read(read);
  expect(next).toBeDefined();
  await next?.body?.close();
});

it.each<[string, typeof answer]>([
  ['that fails', (_request, response) => void response.writeHead(503).end()],
  ['that ends the connection', (request) => void request.socket.destroy()],
  ['that does not answer', () => undefined],
])('does not ask a target %s again for some seconds', async (_what, broken) => {
  let now = 1;
  answer = broken;
  const { proxied, counted } = reads({ clock: () => now, answerMs: 1_000 });
  expect(await proxied.read(read)).toBeUndefined();
  expect(await proxied.read(read)).toBeUndefined();
  expect(counted).toEqual([[id, 'GET', true]]);
  answer = withBody;
  now += 5_001;
  const found = await proxied.read(read);
  expect(found?.status).toBe(200);
  await found?.body?.close();
});

describe('a read of tags', () => {
  const of = { bucket: 'bucket', key: 'in/key', versionId: undefined };
  const version = 'a'.repeat(32);
  const tagging = '<Tagging><TagSet><Tag><Key>team</Key><Value>red +ä</Value></Tag></TagSet></Tagging>';
  const withTags: typeof answer = (_request, response) =>
    void response.writeHead(200, { 'x-amz-version-id': version }).end(tagging);

  it('is answered with those that the target has itself', async () => {
    answer = withTags;
    const { proxied, counted } = reads();
    expect(await proxied.readTags(of)).toEqual({ tags: { team: 'red +ä' }, versionId: version });
    expect(await proxied.readTags({ ...of, versionId: version })).toMatchObject({ versionId: version });
    expect(asked.map(({ url }) => url)).toEqual([
      '/other/in/key?tagging=',
      `/other/in/key?tagging=&versionId=${version}`,
    ]);
    expect(asked[0]?.headers).toMatchObject({ 'x-minio-source-proxy-request': 'true' });
    expect(counted).toEqual([
      [id, 'tags', false],
      [id, 'tags', false],
    ]);
  });

  it.each<[string, typeof answer, boolean]>([
    [
      'does not have the object',
      (_request, response) => void response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>'),
      false,
    ],
    [
      'refuses the credentials',
      (_request, response) => void response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>'),
      true,
    ],
    ['answers with another document', (_request, response) => void response.writeHead(200).end('<LegalHold/>'), true],
    ['fails', (_request, response) => void response.writeHead(503).end(), true],
  ])('has no answer of a target that %s', async (_what, given, failed) => {
    answer = given;
    const { proxied, counted } = reads();
    expect(await proxied.readTags(of)).toBeUndefined();
    expect(counted).toEqual([[id, 'tags', failed]]);
  });

  it('is not passed on where the target says so, and has a place among the open answers', async () => {
    answer = withTags;
    expect(await reads({ disableProxy: true }).proxied.readTags(of)).toBeUndefined();
    expect(asked).toEqual([]);
    const { proxied } = reads();
    for (let at = 0; at < 4; at += 1) expect(await proxied.readTags(of)).toBeDefined();
  });
});

it('passes on that the object does not meet a condition, and not that the credentials are refused', async () => {
  const { proxied, counted } = reads();
  answer = (_request, response) => void response.writeHead(412).end('<Error><Code>PreconditionFailed</Code></Error>');
  expect(await proxied.read(read)).toMatchObject({ status: 412, code: 'PreconditionFailed' });
  answer = (_request, response) => void response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
  expect(await proxied.read(read)).toBeUndefined();
  expect(counted).toEqual([
    [id, 'GET', false],
    [id, 'GET', true],
  ]);
});
