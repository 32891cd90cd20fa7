import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { answerIn } from './answer-in.ts';
import type { ExpectedUploads } from './expected-uploads.ts';
import type { SeededRandom } from './seeded-random.ts';
import { uploadInParts } from './upload-writer.ts';
import { BUCKET_THERE, contentOf, IN_DOUBT, placeOf, type Witness } from './witness.ts';

export const BUCKET = 'crash';

const KEYS_OF_EACH = 4;

export interface Writing {
  readonly s3: S3Client;
  /** Nobody else writes under it. */
  readonly writer: string;
  readonly bucket: string;
  readonly random: SeededRandom;
  readonly witness: Witness;
  /** Where they are followed; otherwise each upload is complete, or abandoned, within one step. */
  readonly uploads?: ExpectedUploads;
  /** Told of answers in which the server says that it is in trouble (5xx). */
  readonly onTrouble?: (status: number | undefined, code: string) => void;
}

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
  const choice = random.between(1, 100);
  if (choice <= 38) return put(writing, asked, name, random.bytes(random.between(0, 8_000)));
  if (choice <= 46) return put(writing, asked, name, random.bytes(random.between(100_000, 131_072)));
  if (choice <= 60) return put(writing, asked, name, random.bytes(random.between(131_073, 600_000)));
  if (choice <= 69) return put(writing, asked, name, random.bytes(random.between(1, 300_000)), { IfNoneMatch: '*' });
  if (choice <= 78) return remove(writing, asked, name);
  if (choice <= 83) return removeSeveral(writing, asked);
  if (choice <= 90) return copy(writing, asked, name);
  if (choice <= 93) return changeBucket(writing, asked);
  return uploadInParts(writing, asked, `${writing.bucket}/${writing.writer}/parts-${random.between(1, 2)}`);
}

function nameIn({ bucket, writer, random }: Writing): string {
  return `${bucket}/${writer}/${random.between(1, KEYS_OF_EACH)}`;
}

async function put(
  { s3, witness }: Writing,
  asked: string[],
  name: string,
  bytes: Buffer,
  condition: { IfNoneMatch?: string } = {},
): Promise<void> {
  begin(witness, asked, name, contentOf(bytes));
  await s3.send(new PutObjectCommand({ ...placeOf(name), Body: bytes, ...condition }));
  witness.acknowledge(name);
}

async function remove({ s3, witness }: Writing, asked: string[], name: string): Promise<void> {
  begin(witness, asked, name, undefined);
  await s3.send(new DeleteObjectCommand(placeOf(name)));
  witness.acknowledge(name);
}

/** Each of the keys is deleted for itself: some may be gone where the others are there. */
async function removeSeveral(writing: Writing, asked: string[]): Promise<void> {
  const { s3, bucket, witness } = writing;
  const names = [...new Set([nameIn(writing), nameIn(writing), nameIn(writing)])];
  for (const name of names) begin(witness, asked, name, undefined);
  const Objects = names.map((name) => ({ Key: placeOf(name).Key }));
  const { Deleted } = await s3.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects } }));
  for (const { Key } of Deleted ?? []) witness.acknowledge(`${bucket}/${Key ?? ''}`);
}

async function copy(writing: Writing, asked: string[], name: string): Promise<void> {
  const { s3, witness } = writing;
  const source = nameIn(writing);
  const content = witness.known(source);
  // Onto itself a copy must change something.
  if (source === name || content === undefined || content === IN_DOUBT) return;
  begin(witness, asked, name, content);
  await s3.send(new CopyObjectCommand({ ...placeOf(name), CopySource: source }));
  witness.acknowledge(name);
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

function begin(witness: Witness, asked: string[], name: string, content: string | undefined): void {
  witness.begin(name, content);
  asked.push(name);
}
