import { readdir, realpath, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { ResponseError } from '../../../../protocol/response-error.ts';
import { displayName } from '../../../config/target.ts';
import type { EncryptionRules } from '../../../s3/encryption-rules.ts';
import { isNotFound } from '../../../s3/error-of-status.ts';
import { deleteObject, headObject } from '../../../s3/objects.ts';
import { looksLikeSameObject } from '../../../s3/same-object.ts';
import type { Context } from '../../context.ts';
import { locationOf, type CopyDestination } from './copy-destination.ts';
import type { FoundSource } from './find-sources.ts';
import { objectChanged, removeInState } from './source-state.ts';

/**
 * Refuses a copy that would replace its own source, which the move would then remove. An address is not proof that two servers are two: where
 * the bucket and the key are the same, the objects are compared.
 *
 * @throws ProgramError Unsafe
 */
export async function refuseOwnTarget(
  context: Context,
  source: FoundSource,
  destination: CopyDestination,
  encryption: EncryptionRules,
): Promise<void> {
  const location = locationOf(destination, source.name);
  const { target } = destination;
  if (source.kind !== 'object') {
    if (location.kind !== 'local') return;
    const [from, to] = await Promise.all([realpath(source.path), realpath(location.path).catch(() => undefined)]);
    if (from === to) throw new ProgramError('Unsafe', `\`${source.display}\` is its own target`);
    return;
  }
  if (location.kind !== 'remote' || target.kind !== 'remote') return;
  if (location.bucket !== source.target.bucket || location.key !== source.key) return;
  if (target.alias.url === source.target.alias.url)
    throw new ProgramError('Unsafe', `\`${source.display}\` is its own target`);
  const [from, to] = await Promise.all(
    [
      { alias: source.target.alias, display: displayName(source.target, source.key) },
      { alias: target.alias, display: location.display },
    ].map(async ({ alias, display }) => ({
      client: await context.client(alias),
      display,
      headers: encryption.forKey(display),
    })),
  );
  if (from !== undefined && to !== undefined && (await looksLikeSameObject(from, to, location))) {
    throw new ProgramError(
      'Unsafe',
      `\`${source.display}\` is its own target: both addresses lead to the same object (\`coffer rm\` removes it, if it is a copy)`,
    );
  }
}

/**
 * Removes what was copied, if it still is what was copied. In a bucket with versions it adds a delete marker.
 *
 * @throws SourceChangedError if it is not
 */
export async function removeSource(context: Context, source: FoundSource, encryption: EncryptionRules): Promise<void> {
  switch (source.kind) {
    case 'stream':
      throw new ProgramError('BadArgument', `\`${source.display}\` is a stream, which cannot be removed`);
    case 'file':
      if (source.state === undefined) throw new Error('a file is removed without the state that was copied');
      removeInState(source.path, source.state);
      return;
    case 'object':
      await removeObject(context, source, encryption);
      return;
    default:
      source satisfies never;
  }
}

async function removeObject(
  context: Context,
  source: Extract<FoundSource, { readonly kind: 'object' }>,
  encryption: EncryptionRules,
): Promise<void> {
  const { key, etag, modified } = source;
  const { alias, bucket } = source.target;
  const client = await context.client(alias);
  const headers = encryption.forKey(displayName(source.target, key));
  try {
    // Some servers ignore the condition of a deletion, and it does not tell objects with the same bytes apart.
    const now = await headObject(client, { bucket, key }, { headers });
    if ((etag !== '' && now.etag !== etag) || seconds(now.lastModified) !== seconds(modified)) throw objectChanged();
    await deleteObject(client, { bucket, key }, { ifMatch: now.etag });
  } catch (error) {
    // Another client has removed it.
    if (isNotFound(error)) return;
    throw error instanceof ResponseError && error.status === 412 ? objectChanged() : error;
  }
}

/** The times of headers have seconds, those of listings milliseconds. */
function seconds(time: Date): number {
  return Math.floor(time.getTime() / 1_000);
}

/** Removes the folders without files, from the innermost. A folder that is not empty stays. */
export async function removeEmptyFolders(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeEmptyFolders(join(folder, entry.name));
  await rmdir(folder).catch(() => undefined);
}
