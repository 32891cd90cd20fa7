import { randomBytes, randomUUID } from 'node:crypto';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../platform/output/logger.ts';
import { describeBlobStore, inPieces, listed, read, someBlobId } from '../support/store/blob-store.conformance.ts';
import type { BlobStore } from '../../server/store/blob-store.ts';
import { openS3BlobStore } from '../../server/store/s3/blob-store.ts';

/** Another S3 that holds the blobs. It can go away and come back with what it had. */
export interface OtherS3 {
  readonly url: string;
  readonly accessKey: string;
  readonly secretKey: string;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const partBytes = 5 * 2 ** 20;
const region = 'us-east-1';

/** What every blob store owes, and what only one across a network can show, over a real S3. */
export function describeRealS3(name: string, startS3: () => Promise<OtherS3>): void {
  let s3: OtherS3;
  let bucket: string;

  async function open(more: { readonly secretKey?: string; readonly bucket?: string } = {}): Promise<BlobStore> {
    const { url: endpoint, accessKey, secretKey } = s3;
    const log = createLogger({ name: 'test', level: 'silent' });
    return openS3BlobStore({
      endpoint,
      region,
      accessKey,
      secretKey,
      bucket,
      prefix: 'blobs/',
      partBytes,
      log,
      ...more,
    });
  }

  async function openNew(): Promise<BlobStore> {
    bucket = `blobs-${randomUUID()}`;
    const credentials = { accessKeyId: s3.accessKey, secretAccessKey: s3.secretKey };
    const client = new S3Client({ endpoint: s3.url, region, forcePathStyle: true, credentials });
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    client.destroy();
    return open();
  }

  describe(name, () => {
    beforeAll(async () => {
      s3 = await startS3();
    });
    afterAll(() => s3?.stop());

    describeBlobStore(`S3, over ${name}`, { open: openNew, listedAfter: partBytes + 1 });

    it('lists more than one page', async () => {
      const store = await openNew();
      const ids = Array.from({ length: 1_100 }, someBlobId);
      for (let at = 0; at < ids.length; at += 50)
        await Promise.all(ids.slice(at, at + 50).map((id) => store.write(id, inPieces(Buffer.from('x'), 1))));
      expect((await listed(store)).toSorted()).toEqual(ids.toSorted());
    });

    it('writes and reads across a restart', async () => {
      const store = await openNew();
      const [before, during] = [someBlobId(), someBlobId()];
      const bytes = randomBytes(8 * partBytes);
      await store.write(before, inPieces(bytes, 65_536));
      const reading = store.read(before, { start: 0, end: bytes.length });
      const got: Buffer[] = [(await reading.next()) ?? Buffer.alloc(0)];
      const writing = store.write(during, inPieces(bytes, 65_536));
      await s3.kill();
      await s3.start();
      for (let chunk = await reading.next(); chunk !== undefined; chunk = await reading.next()) got.push(chunk);
      expect(Buffer.concat(got).equals(bytes)).toBe(true);
      await writing;
      expect((await read(store, during, 0, bytes.length)).equals(bytes)).toBe(true);
    });

    it('takes a body of any size in the same memory', async () => {
      const store = await openNew();
      const chunk = randomBytes(2 ** 20);
      const size = 256;
      let max = 0;
      const before = process.memoryUsage();
      const body = (async function* () {
        for (let i = 0; i < size; i += 1) {
          await Promise.resolve();
          yield Buffer.from(chunk);
          max = Math.max(max, process.memoryUsage().arrayBuffers - before.arrayBuffers);
        }
      })();
      expect(await store.write(someBlobId(), body)).toEqual({ size: size * 2 ** 20 });
      // Four parts, each once in pieces and once joined, and what is not collected yet.
      expect(max).toBeLessThan(128 * 2 ** 20);
    }, 360_000);

    it('says that the secret key is wrong, and that a bucket is missing', async () => {
      await openNew();
      await expect(open({ secretKey: 'another-secret-key' })).rejects.toThrow(/SignatureDoesNotMatch.*secret key/);
      await expect(open({ bucket: 'no-such-bucket' })).rejects.toThrow(/no-such-bucket.*NoSuchBucket.*make the bucket/);
    });
  });
}
