import { stat } from 'node:fs/promises';
import { checkObjectKey } from '../../protocol/s3/names.ts';
import { CliError } from '../cli-error.ts';
import { displayName, type Target } from '../target.ts';
import { keyUnder, pathUnder } from './paths.ts';

/** Where copies go: into a folder under the names of their sources, or one copy to the very name given. */
export interface CopyDestination {
  readonly target: Target;
  readonly folder: boolean;
}

/** A target is a folder when it ends with a slash, is one already, or must hold several copies. */
export async function chooseDestination(target: Target, several: boolean): Promise<CopyDestination> {
  if (target.kind === 'remote') {
    if (target.bucket === '') throw new CliError('BadArgument', `Invalid target \`${target.text}\`: name a bucket`);
    return { target, folder: several || target.key === '' || target.key.endsWith('/') };
  }
  const existing = await stat(target.path).catch(() => undefined);
  if (several && existing !== undefined && !existing.isDirectory()) {
    throw new CliError('BadArgument', `\`${target.path}\` is not a folder: several copies need one`);
  }
  return { target, folder: several || target.path.endsWith('/') || existing?.isDirectory() === true };
}

export type Place =
  | { readonly kind: 'local'; readonly path: string; readonly display: string }
  | { readonly kind: 'remote'; readonly bucket: string; readonly key: string; readonly display: string };

/** @throws CliError Unsafe, S3Error for a key that cannot be one */
export function placeOf({ target, folder }: CopyDestination, name: string): Place {
  if (target.kind === 'local') {
    const path = folder ? pathUnder(target.path, name) : target.path;
    return { kind: 'local', path, display: path };
  }
  const key = folder ? keyUnder(target.key, name) : target.key;
  checkObjectKey(key);
  return { kind: 'remote', bucket: target.bucket, key, display: displayName(target, key) };
}
