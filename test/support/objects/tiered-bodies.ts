import type { ObjectLayer, RequestedEncryption } from '../../../server/objects/contract/object-layer.ts';
import { bodyFrom } from '../../../server/objects/contract/body-source.ts';
import { chunks, randomBody } from './test-layer.ts';

/** Plain bodies, and those under keys of the key service. */
export const allEncryptions: readonly (RequestedEncryption | undefined)[] = [
  undefined,
  { scheme: 'SSE-S3' },
  { scheme: 'SSE-KMS' },
];

/** Uploads an object in parts of these sizes. Returns its bytes. */
export async function uploadParts(
  layer: ObjectLayer,
  bucket: string,
  key: string,
  sizes: readonly number[],
  encryption: RequestedEncryption | undefined,
): Promise<Buffer> {
  const { uploadId } = await layer.createMultipartUpload({ bucket, key, headers: { metadata: {} }, encryption });
  const bodies = sizes.map((size) => randomBody(size));
  const parts = [];
  for (const [index, bytes] of bodies.entries()) {
    const { etag } = await layer.putPart({
      bucket,
      key,
      uploadId,
      partNumber: index + 1,
      body: bodyFrom(chunks(bytes, 65_536)),
      size: bytes.length,
      digests: {},
    });
    parts.push({ partNumber: index + 1, etag });
  }
  await layer.completeMultipartUpload({ bucket, key, uploadId, parts });
  return Buffer.concat(bodies);
}
