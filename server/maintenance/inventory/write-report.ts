import { createHash } from 'node:crypto';
import { inventoryFolder, type InventoryConfiguration } from '../../../protocol/s3/bucket-inventory.ts';
import { bodyFrom } from '../../objects/contract/body-source.ts';
import { keptChunks } from '../../streams/chunks.ts';
import type { ObjectInfo, ObjectLayer } from '../../objects/contract/object-layer.ts';
import { columnsOf } from './inventory-columns.ts';
import { beginFile, extensions, type ReportFile, schemaText } from './report-file.ts';

/** The part of a report that is written. */
export interface ReportProgress {
  readonly files: readonly DataFile[];
  /** The rows of its files. */
  readonly rows: number;
  /** All versions up to this one are in its files. */
  readonly after?: { readonly key: string; readonly versionId?: string };
}

interface DataFile {
  readonly key: string;
  readonly size: number;
  /** Absent for an encrypted file: it would be readable in the record of an unfinished report. */
  readonly md5?: string;
}

export type InventoryObjects = Pick<
  ObjectLayer,
  'listObjectVersions' | 'deliverObject' | 'encryptsDelivery' | 'getObject'
>;

interface ReportOptions {
  readonly objects: InventoryObjects;
  readonly bucket: string;
  readonly configuration: InventoryConfiguration;
  /** The time of the report, in milliseconds since 1970. */
  readonly began: number;
  readonly progress: ReportProgress;
  readonly random: (size: number) => Buffer;
  /** Waits so that reading keeps its rate. Rejects to end the report. */
  readonly passed: (versions: number) => Promise<void>;
  /** Called when a file of the report is stored. */
  readonly checkpoint: (progress: ReportProgress) => Promise<void>;
  readonly limits?: FileLimits;
}

interface FileLimits {
  readonly rows: number;
  readonly bytes: number;
}

const PAGE = 1_000;
/** A file is in memory until it is stored. */
const fileLimits: FileLimits = { rows: 500_000, bytes: 16 * 1_024 * 1_024 };

/**
 * Writes a report in the layout of AWS: the data files, then the list of them for Hive, the manifest, and the checksum of the manifest,
 * which clients wait for. Versions that change meanwhile may be missing, or be as they were.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/storage-inventory-location.html
 */
export async function writeReport(options: ReportOptions): Promise<ReportProgress> {
  const { configuration, bucket, began, limits = fileLimits } = options;
  const { destination } = configuration;
  const isEncrypted = await options.objects.encryptsDelivery(destination.bucket, destination.encryption);
  const columns = columnsOf(bucket, configuration, { isEncrypted });
  const { format } = destination;
  let { progress } = options;
  let file: ReportFile | undefined;
  let rows = 0;
  for await (const { versions, last } of pages(options)) {
    file ??= await beginFile(format, columns);
    await file.add(versions);
    rows += versions.length;
    const isEnd = last === undefined;
    if (!isEnd && rows < limits.rows && file.bytes < limits.bytes) continue;
    if (rows > 0) {
      const stored = await storeFile(options, await file.finish());
      progress = { files: [...progress.files, stored], rows: progress.rows + rows, ...(last && { after: last }) };
      if (!isEnd) await options.checkpoint(progress);
    }
    file = undefined;
    rows = 0;
  }
  await storeManifest(options, progress.files, schemaText(format, columns), new Date(began));
  return progress;
}

/** Yields the versions of the report by pages; `last` is absent for the last page. */
async function* pages({ objects, bucket, configuration, progress, passed }: ReportOptions) {
  let after: ReportProgress['after'] | undefined = progress.after ?? { key: '' };
  while (after !== undefined) {
    const page = await objects.listObjectVersions({
      bucket,
      prefix: configuration.prefix ?? '',
      delimiter: '',
      keyMarker: after.key,
      versionIdMarker: after.versionId,
      limit: PAGE,
      details: true,
    });
    await passed(page.versions.length);
    const versions =
      configuration.versions === 'All'
        ? page.versions
        : page.versions.filter(({ isLatest, deleteMarker }) => isLatest && !deleteMarker);
    after = page.next;
    yield { versions, last: after };
  }
}

async function storeFile(options: ReportOptions, bytes: Buffer): Promise<DataFile> {
  const { configuration, random } = options;
  const { format } = configuration.destination;
  const name = random(16)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  const key = `${folderOf(options)}/data/${name}.${extensions[format]}`;
  const type = format === 'CSV' ? 'application/gzip' : 'application/octet-stream';
  const { encryption } = await store(options, key, bytes, type);
  return { key, size: bytes.length, ...(encryption === undefined && { md5: md5Of(bytes).toString('hex') }) };
}

async function storeManifest(
  options: ReportOptions,
  files: readonly DataFile[],
  fileSchema: string,
  time: Date,
): Promise<void> {
  const { bucket, configuration, objects } = options;
  const { destination } = configuration;
  const listed = [];
  for (const { key, size, md5 } of files)
    listed.push({ key, size, MD5checksum: md5 ?? (await md5OfObject(objects, destination.bucket, key)) });
  const minute = time.toISOString().slice(0, 16).replace(':', '-');
  const links = files.map(({ key }) => `s3://${destination.bucket}/${key}\n`).join('');
  const hive = `${folderOf(options)}/hive/dt=${minute.replace('T', '-')}/symlink.txt`;
  await store(options, hive, Buffer.from(links), 'text/plain');
  const manifest = Buffer.from(
    `${JSON.stringify(
      {
        sourceBucket: bucket,
        destinationBucket: `arn:aws:s3:::${destination.bucket}`,
        version: '2016-11-30',
        creationTimestamp: String(time.getTime()),
        fileFormat: destination.format,
        fileSchema,
        files: listed,
      },
      undefined,
      2,
    )}\n`,
  );
  const folder = `${folderOf(options)}/${minute}Z`;
  await store(options, `${folder}/manifest.json`, manifest, 'application/json');
  const checksum = Buffer.from(md5Of(manifest).toString('hex'));
  await store(options, `${folder}/manifest.checksum`, checksum, 'text/plain');
}

function folderOf({ bucket, configuration }: ReportOptions): string {
  return inventoryFolder(bucket, configuration);
}

async function store(
  { objects, configuration: { destination } }: ReportOptions,
  key: string,
  bytes: Buffer,
  contentType: string,
): Promise<ObjectInfo> {
  const md5 = md5Of(bytes).toString('base64');
  return objects.deliverObject({
    service: 's3.amazonaws.com',
    bucket: destination.bucket,
    key,
    body: bodyFrom(once(bytes)),
    size: bytes.length,
    digests: { md5 },
    headers: { contentType, metadata: {} },
    ...(destination.encryption && { encryption: destination.encryption }),
  });
}

async function md5OfObject(objects: InventoryObjects, bucket: string, key: string): Promise<string> {
  const { info, read } = await objects.getObject(bucket, key);
  const hash = createHash('md5');
  for await (const chunk of keptChunks(read({ start: 0, end: info.size }))) hash.update(chunk);
  return hash.digest('hex');
}

function md5Of(bytes: Buffer): Buffer {
  return createHash('md5').update(bytes).digest();
}

// oxlint-disable-next-line typescript/require-await -- a body is asynchronous
async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
