import { ProgramError } from '../../../../platform/errors/program-error.ts';
import type { RemoteTarget, Target } from '../../../config/target.ts';
import type { Context } from '../../context.ts';

/** The flag that reads what is inside of an archive on the server. */
export interface ZipOptions {
  readonly zip?: boolean;
}

/**
 * Asks the server to look into archives with `--zip`: `ALIAS/bucket/archive.zip/name`. Only MinIO can do it; other servers refuse the header
 * or find no such object.
 *
 * @see https://github.com/minio/minio/blob/master/docs/extensions/s3zip/README.md
 */
export function readArchives<T extends Target>(context: Context, target: T, { zip }: ZipOptions): T {
  if (zip !== true) return target;
  if (target.kind === 'local') {
    throw new ProgramError('BadArgument', `\`${target.path}\` is a path of this machine: --zip is for servers`);
  }
  context.addReadHeaders({ 'x-minio-extract': 'true' });
  return target;
}

/** The entries of an archive are listed below its name with a slash. */
export function asArchiveFolder(target: RemoteTarget): RemoteTarget {
  return target.key.endsWith('.zip') ? { ...target, key: `${target.key}/` } : target;
}
