import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { body, put, testLayer } from '../../../test/support/objects/test-layer.ts';
import { CustomerKey } from '../../encryption/object-key.ts';
import { decodeObject } from '../records/object-record.ts';
import { recordKeys } from '../records/record-format.ts';
import type { RequestedEncryption } from '../contract/object-layer.ts';

const bucket = 'bucket';
const content = '0815';
/** The ETag that the source has: the digest of a plain object. */
const md5 = createHash('md5').update(content).digest('hex');
const replica = { versionId: `${(5).toString(16).padStart(12, '0')}${'1'.padStart(20, '0')}`, modified: new Date(5) };
const customerKey = new CustomerKey(Buffer.alloc(32, 3));
const schemes: readonly RequestedEncryption[] = [
  { scheme: 'SSE-S3' },
  { scheme: 'SSE-KMS' },
  { scheme: 'SSE-C', customerKey },
];

async function versioned() {
  const made = testLayer();
  await made.layer.createBucket(bucket, { location: '' });
  await made.layer.putBucketVersioning(bucket, { status: 'Enabled' });
  return made;
}

/** Reports if a record has the ETag in a form in which it can be read. */
async function isReadable({ records }: Awaited<ReturnType<typeof versioned>>, etag: string): Promise<boolean> {
  const bytes = Buffer.from(etag.slice(0, 32), 'hex');
  const forms = [bytes, Buffer.from(etag), Buffer.from(bytes.toString('base64').replace(/=+$/, ''))];
  for await (const item of records.scan({ start: Buffer.alloc(0), end: Buffer.from([255]) })) {
    if (item.kind === 'entry' && forms.some((form) => item.value.includes(form))) return true;
  }
  return false;
}

describe('the receipt of a rename', () => {
  it('tells nothing of the ETag that was a condition: short contents could be tried', async () => {
    const { layer, records } = testLayer();
    await layer.createBucket(bucket, { location: '' });
    const receipts = [];
    for (const pin of ['0815', '0816']) {
      const { etag } = await layer.putObject(put(bucket, 'from', pin, { encryption: { scheme: 'SSE-S3' } }));
      const fromConditions = { ifMatch: [etag] };
      const names = { bucket, from: 'from', to: `to-${pin}`, onlyIds: [], onlyTargetId: undefined };
      const conditions = { fromConditions, toConditions: {}, clientToken: 'token' };
      await layer.renameObject({ ...names, ...conditions, by: undefined, allowTags: () => Promise.resolve() });
      const entry = await records.get(recordKeys.object(bucket, `to-${pin}`));
      receipts.push(entry && decodeObject(entry.value, bucket, `to-${pin}`).renamed);
    }
    expect(receipts[0]).toMatchObject({ token: 'token' });
    expect(receipts[0]).toEqual(receipts[1]);
  });
});

describe('the ETag that a replica has from its source', () => {
  it('is in the record of a plain object', async () => {
    const made = await versioned();
    await made.layer.putObject(put(bucket, 'key', content, { replica: { ...replica, etag: md5 } }));
    expect(await isReadable(made, md5)).toBe(true);
  });

  it.each(schemes)('is sealed where the replica is encrypted: %j', async (encryption) => {
    const made = await versioned();
    const { layer } = made;
    const info = await layer.putObject(put(bucket, 'key', content, { encryption, replica: { ...replica, etag: md5 } }));
    expect(info.etag).toBe(md5);
    expect(await isReadable(made, md5)).toBe(false);
    const key = encryption.scheme === 'SSE-C' ? { customerKey } : {};
    expect(await layer.headObject(bucket, 'key', key)).toMatchObject({ etag: md5 });
    const list = await layer.listObjects({ bucket, prefix: '', delimiter: '', after: '', limit: 10 });
    expect(list.objects).toMatchObject([{ etag: md5 }]);
  });

  it.each(schemes)('is sealed in an upload in parts, and at its end: %j', async (encryption) => {
    const made = await versioned();
    const { layer } = made;
    const etag = `${md5}-2`;
    const named = { bucket, key: 'key' };
    const { uploadId } = await layer.createMultipartUpload({
      ...named,
      headers: { metadata: {} },
      encryption,
      replica: { ...replica, etag },
    });
    expect(await isReadable(made, etag)).toBe(false);
    const given = encryption.scheme === 'SSE-C' ? { customerKey } : {};
    const part = await layer.putPart({ ...put(bucket, 'key', content), uploadId, partNumber: 1, ...given });
    const parts = [{ partNumber: 1, etag: part.etag }];
    expect(await layer.completeMultipartUpload({ ...named, uploadId, parts, ...given })).toMatchObject({ etag });
    expect(await isReadable(made, etag)).toBe(false);
    expect(await layer.headObject(bucket, 'key', given)).toMatchObject({ etag });
  });

  it.each(['SSE-S3', 'SSE-KMS'] as const)('stays sealed when the body is encrypted anew: %s', async (scheme) => {
    const made = await versioned();
    const { layer } = made;
    await layer.putObject(put(bucket, 'key', content, { encryption: { scheme }, replica: { ...replica, etag: md5 } }));
    const { versionId } = replica;
    expect(await layer.rewriteBody({ bucket, key: 'key', versionId, keyName: 'default-key' })).toBe(true);
    expect(await isReadable(made, md5)).toBe(false);
    expect(await layer.headObject(bucket, 'key')).toMatchObject({ etag: md5 });
    expect(String(await body(layer, bucket, 'key'))).toBe(content);
  });
});
