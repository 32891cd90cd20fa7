import {
  S3ServiceException,
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  NoSuchUpload,
  UploadPartCommand,
  UploadPartCopyCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  PutObjectCommand,
  RenameObjectCommand,
} from '@aws-sdk/client-s3';
import { ExpectedUploads, type Part, type Upload, contentOf, placeOf, BUCKET_THERE, IN_DOUBT } from './expected.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { changeVersion } from './version-writers.ts';
import { begin, nameIn, type Writing } from './writing.ts';

type AnswerInError =
  /** Nobody answered: whatever was asked for may have been done. */
  | { readonly kind: 'gone' }
  /** Nothing was changed. */
  | { readonly kind: 'refused' }
  /** The server says that it is in trouble: what was asked for may have been done. */
  | { readonly kind: 'trouble'; readonly status: number | undefined; readonly code: string }
  | { readonly kind: 'unexpected' };

/** What the error of a call says about its effect. */
function answerIn(error: unknown): AnswerInError {
  if (!(error instanceof S3ServiceException) || error.$response === undefined) return { kind: 'gone' };
  const status = error.$metadata.httpStatusCode;
  if (status === 412 || status === 507) return { kind: 'refused' };
  // Some operations begin their 200 before they know how they end.
  const inTrouble = (status ?? 0) >= 500 || ['InternalError', 'ServiceUnavailable', 'SlowDown'].includes(error.name);
  return inTrouble ? { kind: 'trouble', status, code: error.name } : { kind: 'unexpected' };
}

/** The least S3 takes for a part that is not the last. */
const PART_BYTES = 5 * 1024 * 1024;
/** An upload of a life that a kill ended is gone on with this often, in percent. */
const TAKE_UP = 50;

/** The parts that are copies of an object, in percent. */
const COPIED_PARTS = 25;

/** Begins an upload, or takes up one that was left; sends parts, one of them twice; completes it, aborts it or leaves it for later. */
async function uploadInParts(writing: Writing, asked: string[], name: string): Promise<void> {
  const { random } = writing;
  const uploads = writing.uploads ?? new ExpectedUploads();
  const left = uploads.left((other) => other.startsWith(`${writing.bucket}/${writing.writer}/`));
  if (left?.whole === false) return abort(writing, uploads, left.upload);
  const takeUp = left !== undefined && random.between(1, 100) <= TAKE_UP;
  const upload = takeUp ? left.upload : await beginUpload(writing, uploads, name);
  if (upload.parts.size === 0) {
    const first = { size: random.between(1, 4) === 1 ? PART_BYTES : 1 + random.between(0, 300_000) };
    await allEnded([
      sendPart(writing, asked, uploads, upload, 1, first.size),
      // Only the last part may be smaller than 5 MiB.
      ...(first.size === PART_BYTES ? [sendPart(writing, asked, uploads, upload, 2, random.between(1, 200_000))] : []),
    ]);
  }
  const choice = random.between(1, 100);
  if (choice <= 15) return undefined;
  if (choice <= 30) {
    // Its last part, which alone may be small. The first of two may never have been sent.
    const last = Math.max(...upload.parts.keys());
    return sendPart(writing, asked, uploads, upload, last, random.between(1, 200_000));
  }
  if (choice <= 45) return abort(writing, uploads, upload);
  return complete(writing, asked, uploads, upload);
}

/** Rejects when all calls have ended: each of them changes a name, and each name has one writer. What was refused is the least of the errors. */
async function allEnded(calls: readonly Promise<void>[]): Promise<void> {
  const errors = (await Promise.allSettled(calls)).flatMap((one): unknown[] =>
    one.status === 'rejected' ? [one.reason] : [],
  );
  const worst = errors.find((error) => answerIn(error).kind !== 'refused') ?? errors[0];
  if (worst !== undefined) throw worst;
}

async function beginUpload({ s3 }: Writing, uploads: ExpectedUploads, name: string): Promise<Upload> {
  uploads.begin(name);
  const { UploadId = '' } = await s3.send(new CreateMultipartUploadCommand(placeOf(name)));
  return uploads.begun(name, UploadId);
}

async function sendPart(
  writing: Writing,
  asked: string[],
  uploads: ExpectedUploads,
  { id, name }: Upload,
  PartNumber: number,
  size: number,
): Promise<void> {
  const { s3, random } = writing;
  const seed = random.between(0, 2 ** 30);
  const Body = bytesOf({ seed, size });
  const part = { ...placeOf(name), UploadId: id, PartNumber };
  let etag: string | undefined;
  if (random.between(1, 100) <= COPIED_PARTS) {
    // Two parts may be on their way at once, and each name has one writer.
    const source = `${writing.bucket}/${writing.writer}/source-${PartNumber}`;
    await put(writing, asked, source, Body);
    uploads.beginPart(id, PartNumber);
    const { CopyPartResult } = await s3.send(new UploadPartCopyCommand({ ...part, CopySource: source }));
    etag = CopyPartResult?.ETag;
  } else {
    uploads.beginPart(id, PartNumber);
    ({ ETag: etag } = await s3.send(new UploadPartCommand({ ...part, Body })));
  }
  uploads.partDone(id, PartNumber, { seed, size, etag: etag ?? '' });
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
  const completed = { ...placeOf(name), UploadId: id, MultipartUpload: { Parts } };
  const { VersionId } = await s3.send(new CompleteMultipartUploadCommand(completed));
  witness.acknowledge(name, VersionId);
  uploads.ended(id);
}

function bytesOf({ seed, size }: Pick<Part, 'seed' | 'size'>): Buffer {
  return Buffer.alloc(size, new SeededRandom(seed).bytes(1_021));
}

/** The part of the changes that name a version, in percent. */
const VERSION_CHANGES = 40;

/** One client that changes its own objects in every way there is, until the server is gone or it is told. */
export async function writeUntilGone(
  writing: Writing,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  while (!signal.aborted) {
    const asked: string[] = [];
    try {
      await change(writing, asked);
    } catch (error) {
      const answer = answerIn(error);
      if (answer.kind === 'gone') return;
      if (answer.kind === 'unexpected') throw error;
      if (answer.kind === 'refused') for (const name of asked) writing.witness.refuse(name);
      if (answer.kind === 'trouble') writing.onTrouble?.(answer.status, answer.code);
    }
  }
}

/** `asked` gets the names whose change was asked for and not answered. */
async function change(writing: Writing, asked: string[]): Promise<void> {
  const { random } = writing;
  const name = nameIn(writing);
  if (writing.versions === true && random.between(1, 100) <= VERSION_CHANGES)
    return changeVersion(writing, asked, name);
  const choice = random.between(1, 100);
  if (choice <= 38) return put(writing, asked, name, random.bytes(random.between(0, 8_000)));
  if (choice <= 46) return put(writing, asked, name, random.bytes(random.between(100_000, 131_072)));
  if (choice <= 60) return put(writing, asked, name, random.bytes(random.between(131_073, 600_000)));
  if (choice <= 69) return put(writing, asked, name, random.bytes(random.between(1, 300_000)), { IfNoneMatch: '*' });
  if (choice <= 78) return remove(writing, asked, name);
  if (choice <= 83) return removeSeveral(writing, asked);
  if (choice <= 87) return copy(writing, asked, name);
  if (choice <= 90) return writing.versions === true ? copy(writing, asked, name) : rename(writing, asked, name);
  if (choice <= 93) return changeBucket(writing, asked);
  return uploadInParts(writing, asked, `${writing.bucket}/${writing.writer}/parts-${random.between(1, 2)}`);
}

async function put(
  { s3, witness }: Writing,
  asked: string[],
  name: string,
  bytes: Buffer,
  condition: { IfNoneMatch?: string } = {},
): Promise<void> {
  begin(witness, asked, name, contentOf(bytes));
  const { VersionId } = await s3.send(new PutObjectCommand({ ...placeOf(name), Body: bytes, ...condition }));
  witness.acknowledge(name, VersionId);
}

async function remove({ s3, witness }: Writing, asked: string[], name: string): Promise<void> {
  begin(witness, asked, name, undefined);
  const { VersionId } = await s3.send(new DeleteObjectCommand(placeOf(name)));
  witness.acknowledge(name, VersionId);
}

/** Each of the keys is deleted for itself: some may be gone where the others are there. */
async function removeSeveral(writing: Writing, asked: string[]): Promise<void> {
  const { s3, bucket, witness } = writing;
  const names = [...new Set([nameIn(writing), nameIn(writing), nameIn(writing)])];
  for (const name of names) begin(witness, asked, name, undefined);
  const Objects = names.map((name) => ({ Key: placeOf(name).Key }));
  const { Deleted } = await s3.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects } }));
  for (const { Key, DeleteMarkerVersionId } of Deleted ?? [])
    witness.acknowledge(`${bucket}/${Key ?? ''}`, DeleteMarkerVersionId);
}

async function copy(writing: Writing, asked: string[], name: string): Promise<void> {
  const { s3, witness } = writing;
  const source = nameIn(writing);
  const content = witness.known(source);
  // Onto itself a copy must change something.
  if (source === name || content === undefined || content === IN_DOUBT) return;
  begin(witness, asked, name, content);
  // A copy has no tags of its source: the witness is told of tags when they are set.
  const copied = { ...placeOf(name), CopySource: source, TaggingDirective: 'REPLACE' } as const;
  const { VersionId } = await s3.send(new CopyObjectCommand(copied));
  witness.acknowledge(name, VersionId);
}

/** Both names change at once, or none of them. */
async function rename(writing: Writing, asked: string[], name: string): Promise<void> {
  const { s3, witness } = writing;
  const source = nameIn(writing);
  const content = witness.known(source);
  if (source === name || content === undefined || content === IN_DOUBT) return;
  witness.beginMove({ from: source, to: name, content });
  asked.push(source, name);
  const RenameSource = encodeURIComponent(placeOf(source).Key);
  await s3.send(new RenameObjectCommand({ ...placeOf(name), RenameSource }));
  for (const one of [source, name]) witness.acknowledge(one);
}

/** A bucket of the writer's own comes, is filled, emptied and goes, a step at a time. */
async function changeBucket(writing: Writing, asked: string[]): Promise<void> {
  const { s3, bucket, writer, random, witness } = writing;
  const own = `${bucket}-${writer}`;
  const [itself, object] = [`${own}/`, `${own}/only`];
  if (witness.known(itself) === undefined) {
    begin(witness, asked, itself, BUCKET_THERE);
    await s3.send(new CreateBucketCommand({ Bucket: own }));
    return witness.acknowledge(itself);
  }
  if (witness.known(itself) !== BUCKET_THERE) return undefined;
  const content = witness.known(object);
  if (content !== undefined) return remove(writing, asked, object);
  if (random.between(0, 1) === 1) return put(writing, asked, object, random.bytes(random.between(0, 2_000)));
  begin(witness, asked, itself, undefined);
  await s3.send(new DeleteBucketCommand({ Bucket: own }));
  return witness.acknowledge(itself);
}
