import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { CustomerKey } from '../../server/encryption/object-key.ts';
import { type DigestKeys, digestKeys } from '../../server/encryption/digest-keys.ts';
import { keyServiceKeys } from '../../server/encryption/key-service-keys.ts';
import type { KeySource } from '../../server/encryption/key-source.ts';
import { sealedRecords } from '../../server/encryption/sealed-records.ts';
import { FakeKeyService } from '../support/encryption/fake-key-service.ts';
import type { Checksum, ObjectLayer, RequestedEncryption } from '../../server/objects/contract/object-layer.ts';
import { createObjectLayer } from '../../server/objects/objects.ts';
import { put } from '../support/objects/test-layer.ts';
import type { BlobStore } from '../../server/store/blob-store.ts';
import type { RecordStore } from '../../server/store/record-store.ts';
import { DigestSearch } from './find-digests.ts';
import { inFullForm } from '../support/full-form.ts';
import { report } from '../support/report.ts';

/** Objects of low entropy: a nightly run has a thousand. */
export const OBJECTS = Number(process.env['COFFER_SEALED_DIGESTS_OBJECTS'] ?? 100);
export const algorithms: readonly Checksum['algorithm'][] = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'];
export const customerKey = new CustomerKey(Buffer.alloc(32, 3));
export const schemes: readonly RequestedEncryption[] = [
  { scheme: 'SSE-S3' },
  { scheme: 'SSE-KMS' },
  { scheme: 'SSE-C', customerKey },
];
const FIRST = Buffer.alloc(5 * 1024 * 1024, '0815');
const WHOLE = Buffer.concat([FIRST, Buffer.from(pin(1))]);
const LARGE = Buffer.alloc(200_000, '0816');
/** The search of bytes takes most of the time, so that `npm test` has fewer. */
const HUGE = Buffer.alloc(inFullForm(3, 1) * 1024 * 1024, '0817');

export function pin(at: number): string {
  return String(at).padStart(4, '0');
}

/** A store as a server works with it. */
export class EncryptedStore {
  readonly service: FakeKeyService;
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  keys!: KeySource;
  digests!: DigestKeys;
  layer!: ObjectLayer;

  constructor(records: RecordStore, blobs: BlobStore, service = new FakeKeyService()) {
    this.service = service;
    this.records = records;
    this.blobs = blobs;
  }

  /** What a server does when it starts. */
  async start(): Promise<void> {
    this.keys = keyServiceKeys(this.service, { defaultKey: 'default-key' });
    const sealed = sealedRecords({ records: this.records, keys: this.keys });
    await sealed.start();
    this.digests = digestKeys(() => sealed.backendKey());
    this.layer = createObjectLayer({
      records: this.records,
      blobs: this.blobs,
      keys: this.keys,
      digests: this.digests,
    });
  }

  /** Objects, two large ones, one of parts, and an upload under way, for each kind of encryption; or plain. */
  async putAll(kinds: readonly (RequestedEncryption | undefined)[]): Promise<void> {
    await this.layer.createBucket('bucket', { location: '' });
    for (let at = 0; at < OBJECTS; at += 1) {
      const algorithm = algorithms[at % algorithms.length] ?? 'CRC32';
      await this.store(`pin-${pin(at)}`, Buffer.from(pin(at)), kinds[at % kinds.length], algorithm);
    }
    for (const [at, encryption] of kinds.entries()) {
      await this.store(`large-${at}`, LARGE, encryption, 'SHA256');
      await this.store(`huge-${at}`, HUGE, encryption, 'CRC64NVME');
      await this.upload(`parts-${at}`, encryption, true);
      await this.upload(`open-${at}`, encryption, false);
    }
  }

  async store(
    name: string,
    bytes: Buffer,
    encryption: RequestedEncryption | undefined,
    compute: Checksum['algorithm'],
  ): Promise<void> {
    await this.layer.putObject(put('bucket', name, bytes, { digests: { compute }, ...(encryption && { encryption }) }));
  }

  async upload(name: string, encryption: RequestedEncryption | undefined, complete: boolean): Promise<void> {
    const given = encryption?.scheme === 'SSE-C' ? { customerKey } : {};
    const checksum = { algorithm: 'CRC64NVME', type: 'FULL_OBJECT' } as const;
    const headers = { metadata: {} };
    const named = { bucket: 'bucket', key: name };
    const asked = { ...named, headers, checksum, ...(encryption && { encryption }) };
    const { uploadId } = await this.layer.createMultipartUpload(asked);
    const parts = [];
    for (const [index, bytes] of (complete ? [FIRST, Buffer.from(pin(1))] : [Buffer.from(pin(2))]).entries()) {
      const partNumber = index + 1;
      const part = await this.layer.putPart({ ...put('bucket', name, bytes), uploadId, partNumber, ...given });
      parts.push({ partNumber, etag: part.etag });
    }
    if (complete) await this.layer.completeMultipartUpload({ ...named, uploadId, parts, ...given });
  }

  /** Makes all objects noncurrent: every second one by a delete marker, the others by a version without digests that are searched. */
  async makeNoncurrent(): Promise<void> {
    await this.layer.putBucketVersioning('bucket', { status: 'Enabled' });
    const all = { bucket: 'bucket', prefix: '', delimiter: '', after: '', limit: 10_000 };
    for (const [at, { key }] of (await this.layer.listObjects(all)).objects.entries()) {
      if (at % 2 === 0) await this.layer.deleteObject('bucket', key);
      else await this.layer.putObject(put('bucket', key, ''));
    }
  }

  /** How all versions are shown to clients. */
  async shown() {
    const asked = { bucket: 'bucket', prefix: '', delimiter: '', keyMarker: '', limit: 10_000 };
    const { versions } = await this.layer.listObjectVersions(asked);
    const infos = [];
    for (const { key, versionId, deleteMarker } of versions) {
      if (deleteMarker) continue;
      const isCustomers = await this.layer.headObject('bucket', key, { versionId }).then(
        () => false,
        () => true,
      );
      infos.push(await this.layer.headObject('bucket', key, { versionId, ...(isCustomers && { customerKey }) }));
    }
    return { listed: versions.map((version) => ({ ...version })), infos };
  }
}

/** The digests of all that `putAll` stores that are readable in these bytes. What comes by chance is counted, and held against its bound. */
export async function readableIn(what: string, haystacks: AsyncIterable<Buffer>): Promise<string[]> {
  const pins: [string, Buffer][] = Array.from({ length: OBJECTS }, (_, at) => [pin(at), Buffer.from(pin(at))]);
  const search = new DigestSearch([
    ...pins,
    ['the large one', LARGE],
    ['the huge one', HUGE],
    ['the first part', FIRST],
    ['the whole', WHOLE],
  ]);
  let bytes = 0;
  for await (const haystack of haystacks) {
    bytes += haystack.length;
    search.add(haystack);
  }
  const found = search.found();
  const { values, hits, control, bound } = search.short();
  report(
    `${what}, ${(bytes / 2 ** 20).toFixed(1)} MiB: ${found.length} digests; of ${values} raw values of 32 bits ${hits.length}, ` +
      `of as many random ones ${control}, at most ${bound} by chance`,
  );
  // Else the bound means nothing.
  expect(control).toBeLessThanOrEqual(bound);
  return found;
}

/** All files of a folder. */
export async function* filesIn(folder: string): AsyncGenerator<Buffer> {
  for (const name of await readdir(folder, { recursive: true })) {
    const file = join(folder, name);
    if ((await stat(file)).isFile()) yield await readFile(file);
  }
}
