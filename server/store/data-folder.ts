import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DataFolderError } from './data-folder-error.ts';
import { makeDurableFolder } from './durable-file.ts';
import { bringForward, createFormat, readFormat } from './folder-format.ts';
import { lockFolder } from './folder-lock.ts';
import { removeHalfMade } from './half-made.ts';

/** The server's folder, locked by this process until `close` or its death. */
export interface DataFolder {
  readonly recordsFolder: string;
  readonly blobsFolder: string;
  /** A UUID made once for this folder. */
  readonly deploymentId: string;
  close(): Promise<void>;
}

const FORMAT_FILE = 'format.json';
const LOCK_FILE = 'lock';

/** What a folder may have in it and still be new: what a start that was killed left, and what file systems put there. */
const mayBeInNewFolder: readonly string[] = [LOCK_FILE, `${FORMAT_FILE}.new`, 'lost+found'];

/**
 * Opens a data folder, or makes a new one where there is none or an empty one. Everything it makes is durable when it resolves.
 * Throws `DataFolderError` when another server uses the folder, when it holds something else, or when a newer server wrote it.
 */
export async function openDataFolder(path: string): Promise<DataFolder> {
  const folder = resolve(path);
  const recordsFolder = join(folder, 'records');
  const blobsFolder = join(folder, 'blobs');
  const formatFile = join(folder, FORMAT_FILE);
  try {
    await makeDurableFolder(folder);
    // Looked at before the lock's file is put into what may be somebody's home.
    let format = await readFormat(formatFile);
    if (format === undefined) await refuseUnlessNew(folder);
    const lock = lockFolder(folder, join(folder, LOCK_FILE));
    try {
      // Again under the lock: another server may have made it meanwhile.
      format = await readFormat(formatFile);
      if (format === undefined) format = await createFormat(formatFile);
      else await bringForward(folder, formatFile, format);
      await makeDurableFolder(recordsFolder);
      await removeHalfMade(recordsFolder);
      await makeDurableFolder(blobsFolder);
    } catch (error) {
      lock.release();
      throw error;
    }
    return {
      recordsFolder,
      blobsFolder,
      deploymentId: format.deploymentId,
      close: () => {
        lock.release();
        return Promise.resolve();
      },
    };
  } catch (error) {
    throw explained(folder, error);
  }
}

async function refuseUnlessNew(folder: string): Promise<void> {
  const stranger = (await readdir(folder)).find((name) => !mayBeInNewFolder.includes(name));
  if (stranger !== undefined) {
    throw new DataFolderError(
      `the folder ${folder} holds ${JSON.stringify(stranger)} and no data of Coffer: name an empty folder, or one that does not exist yet`,
    );
  }
}

function explained(folder: string, error: unknown): unknown {
  if (error instanceof DataFolderError || !(error instanceof Error && 'code' in error)) return error;
  return new DataFolderError(`the data folder ${folder} cannot be used: ${error.message}`, { cause: error });
}
