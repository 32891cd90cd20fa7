import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  NoSuchUpload,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { ExpectedUploads, type Part, type Upload } from './expected-uploads.ts';
import { SeededRandom } from './seeded-random.ts';
import { contentOf, placeOf } from './witness.ts';
import type { Writing } from './writers.ts';

/** The least S3 takes for a part that is not the last. */
const PART_BYTES = 5 * 1024 * 1024;
/** An upload of a life that a kill ended is gone on with this often, in percent. */
const TAKE_UP = 50;

/** Begins an upload, or takes up one that was left; sends parts, one of them twice; completes it, aborts it or leaves it for later. */
export async function uploadInParts(writing: Writing, asked: string[], name: string): Promise<void> {
  const { random } = writing;
  const uploads = writing.uploads ?? new ExpectedUploads();
  const left = uploads.left((other) => other.startsWith(`${writing.bucket}/${writing.writer}/`));
  if (left?.whole === false) return abort(writing, uploads, left.upload);
  const takeUp = left !== undefined && random.between(1, 100) <= TAKE_UP;
  const upload = takeUp ? left.upload : await begin(writing, uploads, name);
  if (upload.parts.size === 0) {
    const first = { size: random.between(1, 4) === 1 ? PART_BYTES : 1 + random.between(0, 300_000) };
    await Promise.all([
      sendPart(writing, uploads, upload, 1, first.size),
      // Only the last part may be smaller than 5 MiB.
      ...(first.size === PART_BYTES ? [sendPart(writing, uploads, upload, 2, random.between(1, 200_000))] : []),
    ]);
  }
  const choice = random.between(1, 100);
  if (choice <= 15) return undefined;
  if (choice <= 30) return sendPart(writing, uploads, upload, upload.parts.size, random.between(1, 200_000));
  if (choice <= 45) return abort(writing, uploads, upload);
  return complete(writing, asked, uploads, upload);
}

async function begin({ s3 }: Writing, uploads: ExpectedUploads, name: string): Promise<Upload> {
  uploads.begin(name);
  const { UploadId = '' } = await s3.send(new CreateMultipartUploadCommand(placeOf(name)));
  return uploads.begun(name, UploadId);
}

async function sendPart(
  { s3, random }: Writing,
  uploads: ExpectedUploads,
  { id, name }: Upload,
  PartNumber: number,
  size: number,
): Promise<void> {
  const seed = random.between(0, 2 ** 30);
  uploads.beginPart(id, PartNumber);
  const Body = bytesOf({ seed, size });
  const { ETag = '' } = await s3.send(new UploadPartCommand({ ...placeOf(name), UploadId: id, PartNumber, Body }));
  uploads.partDone(id, PartNumber, { seed, size, etag: ETag });
}

async function abort({ s3 }: Writing, uploads: ExpectedUploads, { id, name }: Upload): Promise<void> {
  uploads.end(id);
  try {
    await s3.send(new AbortMultipartUploadCommand({ ...placeOf(name), UploadId: id }));
  } catch (error) {
    // It had been asked to end before, and nobody knew whether it did.
    if (!(error instanceof NoSuchUpload)) throw error;
  }
  uploads.ended(id);
}

async function complete(
  { s3, witness }: Writing,
  asked: string[],
  uploads: ExpectedUploads,
  { id, name, parts }: Upload,
): Promise<void> {
  const inOrder = [...parts].toSorted(([left], [right]) => left - right);
  uploads.end(id);
  witness.begin(name, contentOf(Buffer.concat(inOrder.map(([, part]) => bytesOf(part)))));
  asked.push(name);
  const Parts = inOrder.map(([PartNumber, { etag }]) => ({ PartNumber, ETag: etag }));
  await s3.send(new CompleteMultipartUploadCommand({ ...placeOf(name), UploadId: id, MultipartUpload: { Parts } }));
  witness.acknowledge(name);
  uploads.ended(id);
}

function bytesOf({ seed, size }: Pick<Part, 'seed' | 'size'>): Buffer {
  return Buffer.alloc(size, new SeededRandom(seed).bytes(1_021));
}
