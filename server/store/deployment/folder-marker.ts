import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder, writeNewFile } from '../durable-file.ts';
import { StoreUnavailable } from '../record-store.ts';
import type { BlobsMarker } from './blobs-marker.ts';
import { markerName } from './blobs-marker.ts';
import { markerText, readMarkerText } from './marker-text.ts';

/** The marker of a folder, which several servers may share. The folder is there: made here, it would hide that it is not mounted. */
export function folderMarker(folder: string): BlobsMarker {
  const file = join(folder, markerName);
  return {
    async read() {
      try {
        return readMarkerText(await readFile(file, 'utf8'), file);
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return undefined;
        throw unavailable(folder, error);
      }
    },
    async write(deploymentId) {
      // Under a name of its own first: nobody reads half of it, and of several servers that start at once one wins.
      const beside = `${file}.${randomUUID()}`;
      try {
        await writeNewFile(beside, markerText(deploymentId));
        try {
          await becomes(beside, file);
        } catch (error) {
          if (codeOf(error) !== 'EEXIST') throw error;
        } finally {
          await unlink(beside);
        }
        await syncFolder(folder);
      } catch (error) {
        throw unavailable(folder, error);
      }
    },
  };
}

/** Fails with EEXIST where there is one of that name. */
async function becomes(beside: string, file: string): Promise<void> {
  try {
    await link(beside, file);
  } catch (error) {
    // Some shared file systems have no links.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(String(codeOf(error)))) throw error;
    await copyFile(beside, file, constants.COPYFILE_EXCL);
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function unavailable(folder: string, error: unknown): unknown {
  if (error instanceof StoreUnavailable || !(error instanceof Error)) return error;
  return new StoreUnavailable('unreachable', `the folder ${folder} cannot be used for blobs: ${error.message}`, {
    cause: error,
  });
}
