import { readdir, realpath, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ProgramError } from '../../../../platform/program-error.ts';
import { deleteObject } from '../../../s3/objects.ts';
import type { Context } from '../../context.ts';
import { locationOf, type CopyDestination } from './copy-destination.ts';
import type { FoundSource } from './find-sources.ts';

/** Reports whether a copy would replace its own source, which the move would then remove. */
export async function sameLocation(source: FoundSource, destination: CopyDestination): Promise<boolean> {
  const location = locationOf(destination, source.name);
  const { target } = destination;
  if (source.kind === 'object') {
    return (
      location.kind === 'remote' &&
      target.kind === 'remote' &&
      target.alias.url === source.target.alias.url &&
      location.bucket === source.target.bucket &&
      location.key === source.key
    );
  }
  if (location.kind !== 'local') return false;
  const [from, to] = await Promise.all([realpath(source.path), realpath(location.path).catch(() => undefined)]);
  return from === to;
}

/** Removes what was copied. In a bucket with versions it adds a delete marker. */
export async function removeSource(context: Context, source: FoundSource): Promise<void> {
  if (source.kind === 'stream')
    throw new ProgramError('BadArgument', `\`${source.display}\` is a stream, which cannot be removed`);
  if (source.kind === 'file') await rm(source.path);
  else {
    const { alias, bucket } = source.target;
    await deleteObject(await context.client(alias), { bucket, key: source.key });
  }
}

/** Removes the folders without files, from the innermost. A folder that is not empty stays. */
export async function removeEmptyFolders(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeEmptyFolders(join(folder, entry.name));
  await rmdir(folder).catch(() => undefined);
}
