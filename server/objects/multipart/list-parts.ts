import { openUploadSealed } from '../customer-sealed.ts';
import { openDigests } from '../digests.ts';
import type { Environment } from '../environment.ts';
import type { ListParts, PartInfo, PartListing } from '../object-layer.ts';
import { digestsOfRecord, getUpload, partsOf } from '../records/upload-record.ts';
import { partInfo } from './put-part.ts';

/** Throws `NoSuchUpload`. */
export async function listParts(environment: Environment, request: ListParts): Promise<PartListing> {
  const { bucket, key, uploadId, after, limit, customerKey } = request;
  const { record } = await getUpload(environment.records, bucket, key, uploadId);
  const { storageClass } = record.headers;
  const shown = { initiated: new Date(record.initiated), ...(storageClass !== undefined && { storageClass }) };
  const objectKey = customerKey && openUploadSealed(record.sealed, { bucket, key, id: uploadId }, customerKey);
  const parts: PartInfo[] = [];
  if (limit <= 0) return { ...shown, parts };
  for await (const part of partsOf(environment.records, uploadId, { after, limit: limit + 1 })) {
    if (parts.length === limit) return { ...shown, parts, next: parts.at(-1)?.partNumber ?? after };
    const owner = { bucket, id: uploadId, part: part.number };
    const digests = await openDigests(environment, owner, digestsOfRecord(part.record), objectKey);
    parts.push(partInfo(part.number, part.record, digests));
  }
  return { ...shown, parts };
}
