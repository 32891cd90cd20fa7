import { stat } from 'node:fs/promises';
import { displayName, type Target } from '../../../config/target.ts';
import { headObject } from '../../../s3/objects.ts';
import { isNotFound } from '../../../s3/error-of-status.ts';
import type { Context } from '../../context.ts';
import { pathUnder } from '../copy/copy-destination.ts';
import type { Entry } from './entry.ts';

/** Returns the file or object with a name below a place; undefined if there is none. Below a whole server the name begins with the bucket. */
export async function entryAt(context: Context, place: Target, name: string): Promise<Entry | undefined> {
  return place.kind === 'local' ? fileAt(pathUnder(place.path, name), name) : objectAt(context, place, name);
}

async function fileAt(path: string, name: string): Promise<Entry | undefined> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return undefined;
    const { size, mtime: modified } = found;
    return { kind: 'file', name, display: path, bucket: '', key: path, size, modified, etag: '' };
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

async function objectAt(
  context: Context,
  target: Extract<Target, { kind: 'remote' }>,
  name: string,
): Promise<Entry | undefined> {
  const slash = target.bucket === '' ? name.indexOf('/') : -1;
  const bucket = target.bucket === '' ? name.slice(0, slash) : target.bucket;
  const key = `${target.key}${name.slice(slash + 1)}`;
  try {
    const client = await context.client(target.alias);
    const { size, etag, lastModified: modified, headers } = await headObject(client, { bucket, key });
    const storageClass = String(headers['x-amz-storage-class'] ?? 'STANDARD');
    return {
      kind: 'file',
      name,
      display: displayName({ ...target, bucket }, key),
      bucket,
      key,
      size,
      modified,
      etag,
      storageClass,
    };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
