import { constants } from 'node:fs';
import { chmod, copyFile, link } from 'node:fs/promises';
import { syncFile } from '../store/durable-file.ts';

/** What file systems say that have no links, or not to there. */
const noLinks = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** A second name for a file that is never changed, which takes no room; a copy where that cannot be. */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && noLinks.has(String(error.code)))) throw error;
    await durableCopy(from, to);
  }
}

/** A copy of its own, by reference where the file system can. The name is not durable yet. */
export async function durableCopy(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await chmod(to, 0o600);
  await syncFile(to);
}
