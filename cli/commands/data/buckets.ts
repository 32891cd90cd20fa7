import { lstat, mkdir, rm, rmdir } from 'node:fs/promises';
import type { Context } from '../context.ts';
import { createBucket, deleteBucket, listBuckets } from '../../s3/buckets.ts';
import { putVersioning } from '../../s3/bucket-settings.ts';
import type { S3Client } from '../../s3/client.ts';
import { type ObjectRef, putObject } from '../../s3/objects.ts';
import { parseBucket, parseTarget, type RemoteTarget } from '../../config/target.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { listUploads } from '../../s3/list-objects.ts';
import { abortUpload } from '../../s3/multipart-upload.ts';
import { requireRemovable } from './removable-folder.ts';
import { remoteEntries } from './entries/remote-entries.ts';
import { deleteInBatches } from './remove-batches.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

interface MakeOptions {
  readonly region?: string;
  readonly ignoreExisting?: boolean;
  readonly withLock?: boolean;
  readonly withVersioning?: boolean;
}

export async function makeBucket(
  context: Context,
  [argument = '']: readonly string[],
  options: MakeOptions,
): Promise<void> {
  const aliases = await context.aliases();
  const parsed = parseTarget(argument, aliases);
  if (parsed.kind === 'local') {
    if (options.withLock === true || options.withVersioning === true || options.region !== undefined) {
      throw new ProgramError(
        'BadArgument',
        `\`${argument}\` is a folder of this machine: it has no region, lock or versions`,
      );
    }
    await mkdir(parsed.path, { recursive: true });
    context.output.message(`Folder created successfully \`${argument}\`.`, { bucket: argument, region: '' });
    return;
  }
  const { alias, bucket, key } = parsed;
  if (bucket === '')
    throw new ProgramError('BadArgument', `Invalid target \`${argument}\`: name a bucket, ALIAS/BUCKET`);
  const client = await context.client(alias);
  if (key === '') await create(client, bucket, options);
  else await makeFolder(client, { bucket, key: `${key.replace(/\/+$/, '')}/` }, options);
  if (options.withVersioning === true) await putVersioning(client, bucket, { status: 'Enabled' });
  context.output.message(`Bucket created successfully \`${argument}\`.`, {
    bucket: argument,
    // As other clients print it.
    region: '',
  });
}

/** Makes the empty object that shows a folder, as other clients do, and its bucket where that is missing. */
async function makeFolder(client: S3Client, folder: ObjectRef, options: MakeOptions): Promise<void> {
  const put = async () =>
    putObject(client, folder.bucket, folder.key, Buffer.alloc(0), { 'content-type': 'application/octet-stream' });
  try {
    await put();
  } catch (error) {
    if (!(error instanceof ResponseError) || error.code !== 'NoSuchBucket') throw error;
    await create(client, folder.bucket, options);
    await put();
  }
}

async function create(client: S3Client, bucket: string, options: MakeOptions): Promise<void> {
  try {
    await createBucket(client, bucket, { region: options.region, objectLock: options.withLock === true });
  } catch (error) {
    const exists = error instanceof ResponseError && error.code === 'BucketAlreadyOwnedByYou';
    if (!exists || options.ignoreExisting !== true) throw error;
  }
}

interface RemoveBucketOptions {
  readonly force?: boolean;
  readonly dangerous?: boolean;
}

/** Removes a bucket; with `force` the client removes its objects, versions and uploads first. */
export async function removeBucket(
  context: Context,
  [argument = '']: readonly string[],
  options: RemoveBucketOptions,
): Promise<void> {
  const trimmed = argument.replace(/(?<=.)\/+$/, '');
  const target = parseTarget(trimmed, await context.aliases());
  if (target.kind === 'local') {
    await removeFolder(target.path, options.force === true);
    context.output.message(`Removed \`${argument}\` successfully.`, { bucket: argument });
    return;
  }
  if (target.bucket !== '') {
    await removeOne(context, parseBucket(trimmed, await context.aliases()), options, argument);
    return;
  }
  if (options.force !== true || options.dangerous !== true) {
    throw new ProgramError(
      'BadArgument',
      `\`${argument}\` is a whole server: to remove all its buckets use --force and --dangerous`,
    );
  }
  for (const { name } of await listBuckets(await context.client(target.alias))) {
    await removeOne(context, { ...target, bucket: name }, options, `${target.aliasName}/${name}`);
  }
}

/** A folder takes the place of a bucket where the first name is not an alias. What is not a folder, for instance a link to one, stays. */
async function removeFolder(path: string, force: boolean): Promise<void> {
  const found = await lstat(path);
  if (!found.isDirectory())
    throw new ProgramError('BadArgument', `\`${path}\` is no folder: remove it by \`coffer rm\``);
  await requireRemovable(path);
  await (force ? rm(path, { recursive: true }) : rmdir(path));
}

/** `name` is the bucket as the caller wrote it. With `force` a bucket that does not exist is as one that was removed, as with `rm -f`. */
async function removeOne(
  context: Context,
  target: RemoteTarget,
  { force }: RemoveBucketOptions,
  name: string,
): Promise<void> {
  const { alias, bucket } = target;
  const client = await context.client(alias);
  try {
    if (force === true) await empty(client, target);
    await deleteBucket(client, bucket);
  } catch (error) {
    if (force === true && error instanceof ResponseError && error.code === 'NoSuchBucket') return;
    if (!(error instanceof ResponseError) || error.code !== 'BucketNotEmpty') throw error;
    throw new ProgramError(
      'BadArgument',
      `Bucket \`${name}\` is not empty: use --force to remove it with all that is in it`,
      { cause: error },
    );
  }
  context.output.message(`Removed \`${name}\` successfully.`, { bucket: name });
}

/** Removes the objects with all their versions, and the uploads. The first failure ends it. */
async function empty(client: S3Client, { bucket, ...rest }: RemoteTarget): Promise<void> {
  const versions = remoteEntries(client, { ...rest, bucket, key: '' }, { recursive: true, versions: true });
  for await (const removal of deleteInBatches(client, versions)) {
    if (!('failure' in removal)) continue;
    const cause = removal.failure.message;
    throw new ProgramError('Failed', `Unable to remove \`${removal.entry.display}\``, { cause });
  }
  for await (const { key, uploadId } of listUploads(client, { bucket, prefix: '', recursive: true })) {
    await abortUpload(client, { bucket, key, uploadId });
  }
}
