import type { Environment } from '../environment.ts';
import type { ListParts, PartInfo, PartListing } from '../object-layer.ts';
import { getUpload, partsOf } from '../records/upload-record.ts';
import { partInfo } from './put-part.ts';

/** Throws `NoSuchUpload`. */
export async function listParts(environment: Environment, request: ListParts): Promise<PartListing> {
  const { bucket, key, uploadId, after, limit } = request;
  const { record } = await getUpload(environment.records, bucket, key, uploadId);
  const { storageClass } = record.headers;
  const shown = { initiated: new Date(record.initiated), ...(storageClass !== undefined && { storageClass }) };
  const parts: PartInfo[] = [];
  if (limit <= 0) return { ...shown, parts };
  for await (const part of partsOf(environment.records, uploadId, { after, limit: limit + 1 })) {
    if (parts.length === limit) return { ...shown, parts, next: parts.at(-1)?.partNumber ?? after };
    parts.push(partInfo(part.number, part.record));
  }
  return { ...shown, parts };
}
