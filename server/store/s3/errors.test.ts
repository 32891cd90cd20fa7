import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { ofListing, ofObject, s3Failure } from './errors.ts';

interface Answer {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type Call = 'GET' | 'HEAD' | 'DELETE' | 'PUT' | 'LIST';

/** Makes a call of the SDK, whose transport answers so, and classifies the outcome. */
async function outcome(call: Call, { status, body = '', headers = {} }: Answer): Promise<string> {
  const response = { statusCode: status, headers, body: Readable.from([Buffer.from(call === 'HEAD' ? '' : body)]) };
  const client = new S3Client({
    endpoint: 'http://s3.example',
    forcePathStyle: true,
    region: 'us-east-1',
    credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
    maxAttempts: 1,
    requestHandler: { handle: () => Promise.resolve({ response: response as never }) },
  });
  const at = { Bucket: 'blobs', Key: 'a' };
  try {
    if (call === 'GET') ofObject(await client.send(new GetObjectCommand(at)));
    else if (call === 'PUT') ofObject(await client.send(new PutObjectCommand({ ...at, Body: 'body' })));
    else if (call === 'HEAD') ofObject(await client.send(new HeadObjectCommand(at)));
    else if (call === 'DELETE') await client.send(new DeleteObjectCommand(at));
    else ofListing(await client.send(new ListObjectsV2Command({ Bucket: 'blobs' })), undefined);
    return 'good';
  } catch (error) {
    return s3Failure(error)?.kind ?? `defect: ${String(error)}`;
  }
}

const document = (status: number, code: string): Answer => ({
  status,
  body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>m</Message></Error>`,
  headers: { 'content-type': 'application/xml', 'x-amz-request-id': '1' },
});

describe('an answer of another S3', () => {
  it.each([
    ['GET', document(404, 'NoSuchKey'), 'absent'],
    ['DELETE', document(404, 'NoSuchUpload'), 'absent'],
    ['GET', document(404, 'NoSuchBucket'), 'refused'],
    ['HEAD', { status: 404, headers: { 'x-amz-request-id': '1' } }, 'absent'],
    ['HEAD', { status: 404, headers: { 'content-type': 'application/xml' } }, 'absent'],
    ['GET', document(416, 'InvalidRange'), 'range'],
    ['PUT', document(412, 'PreconditionFailed'), 'condition'],
    ['PUT', document(403, 'AccessDenied'), 'refused'],
    ['PUT', document(503, 'SlowDown'), 'passing'],
    ['PUT', document(507, 'InsufficientStorage'), 'full'],
    ['GET', { status: 200, body: 'body', headers: { etag: '"1"' } }, 'good'],
    ['LIST', { status: 200, body: '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>' }, 'good'],
  ] as const)('decides %s by its own words: %j is %s', async (call, answer, expected) => {
    expect(await outcome(call, answer)).toBe(expected);
  });
});

const pages: readonly (readonly [type: string, body: string])[] = [
  ['text/html', '<html><body>Not Found<br></body></html>'],
  ['text/html', '<html></html>'],
  ['text/plain', '404 page not found'],
  ['application/json', '{"code":"NoSuchKey"}'],
  ['', ''],
];
const statuses = [200, 302, 400, 401, 403, 404, 405, 408, 410, 412, 413, 416, 421, 425, 429, 500, 502, 503, 504];

describe('an answer of a gateway before another S3', () => {
  it.each(statuses)('says nothing about objects: %i', async (status) => {
    for (const [type, body] of pages) {
      for (const call of ['GET', 'HEAD', 'PUT', 'DELETE', 'LIST'] as const) {
        // A removal that did not happen leaves a blob, which garbage collection finds again.
        if (status === 200 && call === 'DELETE') continue;
        const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
        expect([call, type, body, await outcome(call, { status, body, headers })]).toEqual([
          call,
          type,
          body,
          'passing',
        ]);
      }
    }
  });
});
