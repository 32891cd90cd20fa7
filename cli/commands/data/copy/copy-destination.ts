import { join } from 'node:path';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { stat } from 'node:fs/promises';
import { checkObjectKey } from '../../../../protocol/s3/names.ts';
import { isFileName } from '../../../config/local-path.ts';
import { displayName, type Target } from '../../../config/target.ts';

/**
 * Returns the name of a copy below the target folder. As with rsync, a folder with a slash at its end copies its contents; without one the
 * copy keeps the name of the folder.
 */
export function nameUnder(folder: string, rest: string): string {
  if (folder === '' || folder.endsWith('/')) return rest;
  return `${folder.slice(folder.lastIndexOf('/') + 1)}/${rest}`;
}

/** The last segment of a key or path. */
export function lastName(path: string): string {
  return path.slice(path.replace(/\/+$/, '').lastIndexOf('/') + 1);
}

/** The key below a prefix. */
export function keyUnder(prefix: string, name: string): string {
  return prefix === '' || prefix.endsWith('/') ? `${prefix}${name}` : `${prefix}/${name}`;
}

/**
 * Returns the path for a key below a local folder. It refuses a key that would leave the folder, or that is not a valid path.
 *
 * @throws ProgramError Unsafe
 */
export function pathUnder(folder: string, name: string, platform: NodeJS.Platform = process.platform): string {
  const segments = name.replace(/\/$/, '').split('/');
  if (!segments.every((segment) => isFileName(segment, platform))) {
    throw new ProgramError(
      'Unsafe',
      `The key \`${name}\` cannot become a path under \`${folder}\`: copy it alone, to a name you choose`,
    );
  }
  return join(folder, ...segments);
}

/** The target of copies. Copies go into a folder under the names of their sources, or one copy gets the name of the target. */
export interface CopyDestination {
  readonly target: Target;
  readonly folder: boolean;
}

/** A target is a folder when it ends with a slash, is a folder already, or several sources are copied. */
export async function chooseDestination(target: Target, several: boolean): Promise<CopyDestination> {
  if (target.kind === 'remote') {
    if (target.bucket === '') throw new ProgramError('BadArgument', `Invalid target \`${target.text}\`: name a bucket`);
    return { target, folder: several || target.key === '' || target.key.endsWith('/') };
  }
  const existing = await stat(target.path).catch(() => undefined);
  if (several && existing !== undefined && !existing.isDirectory()) {
    throw new ProgramError('BadArgument', `\`${target.path}\` is not a folder: several copies need one`);
  }
  return { target, folder: several || target.path.endsWith('/') || existing?.isDirectory() === true };
}

export type CopyLocation =
  | { readonly kind: 'local'; readonly path: string; readonly display: string }
  | { readonly kind: 'remote'; readonly bucket: string; readonly key: string; readonly display: string };

/** @throws ProgramError Unsafe, S3Error for an invalid key */
export function locationOf({ target, folder }: CopyDestination, name: string): CopyLocation {
  if (target.kind === 'local') {
    const path = folder ? pathUnder(target.path, name) : target.path;
    return { kind: 'local', path, display: path };
  }
  const key = folder ? keyUnder(target.key, name) : target.key;
  checkObjectKey(key);
  return { kind: 'remote', bucket: target.bucket, key, display: displayName(target, key) };
}
