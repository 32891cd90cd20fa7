import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { CustomerKey } from '../../server/encryption/object-key.ts';
import type { DigestKeys } from '../../server/encryption/digest-keys.ts';
import { openDigests } from '../../server/objects/encryption/digests.ts';
import { decodeObject, type ObjectRecord, type SealedKeys } from '../../server/objects/records/object-record.ts';
import { decodeManifest, encodeManifest } from '../../server/objects/records/body-records.ts';
import {
  decodeBody,
  encodeBody,
  decodeRecord,
  encodeRecord,
  recordKeys,
} from '../../server/objects/records/record-format.ts';
import { openChecksum } from '../../server/objects/records/stored-digests.ts';
import { decodeUpload, digestsOfRecord, type PartRecord } from '../../server/objects/records/upload-record.ts';
import { commitOnce } from '../../server/store/commits.ts';
import { decodeKey, within } from '../../server/store/keys.ts';
import type { RecordStore } from '../../server/store/record-store.ts';

const algorithms = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'];

/** The record as servers wrote it in format 2, with its digests in the clear. */
function encodeFormat2(record: ObjectRecord & { readonly etag: string }): Buffer {
  const { modified, size, etag, ...rest } = record;
  const { checksum } = record;
  const head = Buffer.alloc(15);
  head[0] = 2;
  head[1] =
    (checksum === undefined ? 0 : algorithms.indexOf(checksum.algorithm) + 1) |
    (checksum?.type === 'COMPOSITE' ? 8 : 0) |
    (record.sealed === undefined ? 0 : 16);
  head.writeUIntBE(modified, 2, 6);
  head.writeUIntBE(size, 8, 6);
  head[14] = etag.length;
  return Buffer.concat([head, Buffer.from(etag), Buffer.from(JSON.stringify(rest))]);
}

/** Writes every object and every part as older servers did: in format 2, with plain digests. */
export async function writeAsBefore(
  records: RecordStore,
  environment: { readonly digests: DigestKeys },
  customerKey: CustomerKey,
): Promise<void> {
  const ownKey = (sealed: SealedKeys | undefined, bucket: string, key: string, id: string) =>
    sealed?.scheme === 'SSE-C'
      ? customerKey.open(Buffer.from(sealed.objectKey, 'base64'), { bucket, key, id })
      : undefined;
  for (const item of await Array.fromAsync(records.scan(within('o')))) {
    if (item.kind !== 'entry') continue;
    const [, bucket = '', key = ''] = decodeKey(item.key).map(String);
    const record = decodeObject(item.value, bucket, key);
    const objectKey = ownKey(record.sealed, bucket, key, record.id);
    const digests = await openDigests(environment, { bucket, id: record.id, part: 0 }, record, objectKey);
    let { body } = record;
    const put = [];
    const manifest = body.kind === 'parts' && (await records.get(recordKeys.manifest(bucket, key)));
    const bytes = manifest && decodeBody(manifest.value, record.id);
    if (manifest && bytes && body.kind === 'parts' && digests.checksum !== undefined && objectKey === undefined) {
      const seal = await environment.digests.ofBucket(bucket);
      const { algorithm } = digests.checksum;
      const parts = decodeManifest(bytes, body.crc).map((part) => {
        const { checksum } = part;
        if (typeof checksum !== 'object' || seal === undefined) return part;
        const owner = { id: record.id, part: part.number };
        const { value } = openChecksum(seal, owner, { algorithm, type: 'FULL_OBJECT', sealed: checksum.sealed });
        return { ...part, checksum: value };
      });
      const plain = encodeManifest(parts);
      body = { ...body, crc: crc32(plain) };
      put.push({ key: manifest.key, value: encodeBody(record.id, plain) });
    }
    put.push({ key: item.key, value: encodeFormat2({ ...record, ...digests, body }) });
    await commitOnce(records, { put }, randomBytes);
  }
  for (const item of await Array.fromAsync(records.scan(within('u')))) {
    if (item.kind !== 'entry') continue;
    const [, bucket = '', key = '', id = ''] = decodeKey(item.key).map(String);
    const objectKey = ownKey(decodeUpload(item.value, id).sealed, bucket, key, id);
    for (const part of await Array.fromAsync(records.scan(within('p', id)))) {
      if (part.kind !== 'entry') continue;
      const record = decodeRecord(part.value, 'a part') as PartRecord;
      const owner = { bucket, id, part: Number(String(decodeKey(part.key)[2])) };
      const digests = await openDigests(environment, owner, digestsOfRecord(record), objectKey);
      await commitOnce(
        records,
        { put: [{ key: part.key, value: encodeRecord({ ...record, ...digests }) }] },
        randomBytes,
      );
    }
  }
}
