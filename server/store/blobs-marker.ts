import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { StoreUnavailable } from './record-store.ts';
import { syncFolder, writeNewFile } from './durable-file.ts';
import type { BlobsAddress } from './store-address.ts';

/** What says, beside the blobs, which deployment they belong to. */
export interface BlobsMarker {
  /** Undefined where there is none. Throws `StoreUnavailable` where that cannot be told. */
  read(): Promise<string | undefined>;
  /** Durable when it resolves. One that is there already is left alone: read again. */
  write(deploymentId: string): Promise<void>;
}

/** The name of a marker: a file in the folder, an object below the prefix. */
export const markerName = 'coffer-deployment.json';

const schema = z.object({ deploymentId: z.uuid() });

export function markerText(deploymentId: string): string {
  return `${JSON.stringify({ deploymentId })}\n`;
}

/** Throws `StoreUnavailable`: a person may mend it while the server waits. */
export function readMarkerText(text: string, place: string): string {
  try {
    return schema.parse(JSON.parse(text)).deploymentId;
  } catch (error) {
    throw new StoreUnavailable(
      'unreachable',
      `${place} does not say which deployment the blobs belong to: it should be {"deploymentId": "…"}`,
      { cause: error },
    );
  }
}

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

/** The AWS client is loaded only where it is needed. */
export async function blobsMarker(address: BlobsAddress): Promise<BlobsMarker> {
  if (address.kind === 'files') return folderMarker(address.folder);
  const { bucketMarker } = await import('./s3/bucket-marker.ts');
  return bucketMarker(address);
}
