import { createHash } from 'node:crypto';
import { writeDeleteObjects } from '../../protocol/s3/delete-objects-request.ts';
import { readDeleteFailures, type DeleteFailure } from '../../protocol/s3/read-answers.ts';
import type { S3Client } from './client.ts';

/** Deletes up to 1,000 keys by one request; answers those that could not be deleted. */
export async function deleteObjects(
  client: S3Client,
  bucket: string,
  keys: readonly string[],
): Promise<readonly DeleteFailure[]> {
  const body = Buffer.from(writeDeleteObjects({ quiet: true, objects: keys.map((key) => ({ key })) }));
  const { text } = await client.text({
    method: 'POST',
    bucket,
    query: { delete: '' },
    body,
    // S3 demands it for this request.
    headers: { 'content-md5': createHash('md5').update(body).digest('base64'), 'content-type': 'application/xml' },
  });
  return readDeleteFailures(text);
}
