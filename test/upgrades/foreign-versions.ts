import { createHash } from 'node:crypto';
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
} from '@aws-sdk/client-s3';
import { expect } from 'vitest';
import { signRequest } from '../../protocol/sigv4/sign-request.ts';
import { s3Client } from '../support/server/s3-client.ts';
import type { RunningServer } from '../support/server/start-server.ts';

const Bucket = 'moved';
const Key = 'from-elsewhere';

/** Versions that another server made, the newest first; those without a text are delete markers. Two have the same time. */
const versions = [
  { id: '4d5e6f708192a3b4c5d6e7f8091a2b3c', time: '2026-03-01T10:00:00.123Z', text: 'third' },
  { id: 'f0e1d2c3b4a5968778695a4b3c2d1e0f', time: '2026-02-01T10:00:00.500Z', text: undefined },
  { id: '0123456789abcdef0123456789abcdef', time: '2026-02-01T10:00:00.500Z', text: 'second' },
  { id: 'cafecafecafecafecafecafecafecafe', time: '2026-01-01T10:00:00Z', text: 'first' },
] as const;

/** Writes versions with ids of another server, out of their order, one of this server among them, and changes attributes of one. */
export async function writeForeignVersions(server: RunningServer): Promise<void> {
  const client = s3Client(server);
  await client.send(new CreateBucketCommand({ Bucket }));
  const VersioningConfiguration = { Status: 'Enabled' as const };
  await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }));
  await client.send(new PutObjectCommand({ Bucket, Key, Body: 'newest' }));
  const [third, marker, second, first] = versions;
  for (const version of [second, first, third, marker]) await arrive(server, version);
  const Tagging = { TagSet: [{ Key: 'moved', Value: 'yes' }] };
  await client.send(new PutObjectTaggingCommand({ Bucket, Key, VersionId: second.id, Tagging }));
}

/** Expects what `writeForeignVersions` wrote. */
export async function expectForeignVersions(server: RunningServer): Promise<void> {
  const client = s3Client(server);
  const { Versions = [], DeleteMarkers = [] } = await client.send(new ListObjectVersionsCommand({ Bucket }));
  const listed = [...Versions, ...DeleteMarkers].sort((a, b) => Number(b.LastModified) - Number(a.LastModified));
  expect(listed).toHaveLength(versions.length + 1);
  expect(listed[0]).toMatchObject({ IsLatest: true, Size: 6 });
  for (const { id, time, text } of versions) {
    const found = listed.find(({ VersionId }) => VersionId === id);
    expect(found?.LastModified?.toISOString().slice(0, 19)).toBe(time.slice(0, 19));
    if (text === undefined) continue;
    const got = await client.send(new GetObjectCommand({ Bucket, Key, VersionId: id }));
    expect(await got.Body?.transformToString()).toBe(text);
    expect(got.TagCount ?? 0).toBe(text === 'second' ? 1 : 0);
  }
}

/** A server answers 503 until its deployment has switched to the format that has such ids. */
async function arrive(server: RunningServer, { id, time, text }: (typeof versions)[number]): Promise<void> {
  const end = Date.now() + 30_000;
  for (;;) {
    const status = await send(server, id, time, text);
    if (status < 300) return;
    if (status !== 503 || Date.now() > end) throw new Error(`the version ${id} was answered ${status}`);
  }
}

async function send(server: RunningServer, id: string, time: string, text: string | undefined): Promise<number> {
  const method = text === undefined ? 'DELETE' : 'PUT';
  const body = Buffer.from(text ?? '');
  const rawPath = `/${Bucket}/${Key}`;
  const rawQuery = `versionId=${id}`;
  const headers = {
    host: new URL(server.s3).host,
    'x-minio-source-replication-request': 'true',
    'x-minio-source-mtime': time,
    ...(text === undefined && { 'x-minio-source-deletemarker': 'true' }),
  };
  const signed = signRequest({ method, rawPath, rawQuery, headers }, server, {
    region: 'us-east-1',
    service: 's3',
    now: new Date(),
    payloadHash: createHash('sha256').update(body).digest('hex'),
  });
  const answer = await fetch(`${server.s3}${rawPath}?${rawQuery}`, {
    method,
    headers: { ...headers, ...signed },
    ...(text === undefined ? {} : { body }),
  });
  await answer.arrayBuffer();
  return answer.status;
}
