import { describe, expect, it } from 'vitest';
import type { S3Client, S3Request } from '../../../s3/client.ts';
import type { StoredPart } from '../../../s3/multipart-upload.ts';
import type { UploadSessions } from '../../../s3/upload-sessions.ts';
import { copyLimit, copyWithin } from './upload.ts';
import type { Destination } from './upload-parts.ts';

/** A server that computes the checksum of each part, and a session with parts of a killed command. */
function destination(headers: Readonly<Record<string, string>>, stored: readonly StoredPart[] = []) {
  const sent: S3Request[] = [];
  const client = {
    text: (request: S3Request) => {
      sent.push(request);
      const part = Number(request.query?.['partNumber'] ?? 0);
      const text =
        part > 0
          ? `<CopyPartResult><ETag>"e${part}"</ETag><ChecksumSHA256>c${part}</ChecksumSHA256></CopyPartResult>`
          : '<CompleteMultipartUploadResult><ETag>"done"</ETag></CompleteMultipartUploadResult>';
      return Promise.resolve({ status: 200, headers: {}, text });
    },
  } as unknown as S3Client;
  const session = {
    upload: { bucket: 'b', key: 'k', uploadId: 'u' },
    stored: new Map(stored.map((part) => [part.partNumber, part])),
    forget: () => Promise.resolve(),
    leave: () => undefined,
  };
  const to: Destination = {
    client,
    bucket: 'b',
    key: 'k',
    headers,
    partHeaders: {},
    digests: { md5: false },
    semaphore: (work) => work(),
    parallel: 2,
    count: () => undefined,
    sessions: { begin: () => Promise.resolve(session) } as unknown as UploadSessions,
    cleaner: () => Promise.reject(new Error('nothing is cleaned up')),
  };
  const completion = () => new TextDecoder().decode(sent.find(({ method }) => method === 'POST')?.body as Uint8Array);
  return { to, sent, completion };
}

const mebibyte = 1_024 * 1_024;
const large = { bucket: 'b', key: 's', etag: 'e', size: copyLimit + 1 };
const composite = { 'x-amz-checksum-algorithm': 'SHA256', 'x-amz-checksum-type': 'COMPOSITE' };

describe('a copy in parts', () => {
  it('names the checksums that the server computed, with which a composite one is completed', async () => {
    const { to, completion } = destination(composite);
    await copyWithin(large, to);
    expect(completion().match(/<ChecksumSHA256>c\d+</g)).toHaveLength(11);
  });

  it('sends the parts of a killed command again only where it needs their checksums', async () => {
    const stored = [{ partNumber: 1, size: 512 * mebibyte, etag: 'old' }];
    const [again, kept] = [destination(composite, stored), destination({}, stored)];
    for (const { to } of [again, kept]) await copyWithin(large, to);
    expect(again.sent.filter(({ method }) => method === 'PUT')).toHaveLength(11);
    expect(kept.sent.filter(({ method }) => method === 'PUT')).toHaveLength(10);
    expect(kept.completion()).toContain('old');
  });
});
