import { writeBucketEncryption } from '../../protocol/s3/bucket-encryption.ts';
import { writeTagging } from '../../protocol/s3/tagging.ts';
import type { ObjectLayer } from '../objects/object-layer.ts';
import { bucketFiles } from './bucket-archive.ts';
import { writeZip } from './zip/write-zip.ts';
import type { ZipEntry } from './zip/zip-format.ts';

export type ExportedBuckets = Pick<
  ObjectLayer,
  'listBuckets' | 'headBucket' | 'getBucketPolicy' | 'getBucketTags' | 'getBucketEncryption'
>;

/** What is set for a bucket, or for all of them, as an archive that MinIO imports too. Rejects where there is no such bucket. */
export async function exportBuckets(objects: ExportedBuckets, bucket: string | undefined, now: Date): Promise<Buffer> {
  const names = bucket === undefined ? (await objects.listBuckets()).map(({ name }) => name) : [bucket];
  const entries: ZipEntry[] = [];
  for (const name of names) {
    await objects.headBucket(name);
    const add = (file: string, text: string | undefined) => {
      if (text !== undefined) entries.push({ name: `${name}/${file}`, content: Buffer.from(text) });
    };
    const [tags, encryption] = [await objects.getBucketTags(name), await objects.getBucketEncryption(name)];
    add(bucketFiles.policy, await objects.getBucketPolicy(name));
    add(bucketFiles.tagging, tags && writeTagging(tags));
    add(bucketFiles.encryption, encryption && writeBucketEncryption(encryption));
  }
  return writeZip(entries, now);
}
