import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, readFile, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type CheckpointPlace, checkpointText, readCheckpointText } from './checkpoint.ts';
import { fileErrorReason, systemErrorCode } from '../../platform/errors/system-error.ts';
import { syncFolder, writeNewFile } from './durable-file.ts';
import type { BlobsAddress } from '../../platform/store-address/store-address.ts';
import { StoreError, isStoreUnavailable } from './store-error.ts';

/** A marker next to the blobs that names their deployment. */
export interface BlobsMarker extends CheckpointPlace {
  /** Returns undefined if there is no marker. Throws `StoreError` if the place cannot be read. */
  read(): Promise<string | undefined>;
  /** Writes the marker, durably. An existing marker is kept, so the caller reads it again. */
  write(deploymentId: string): Promise<void>;
}

/** The marker is a file of this name in the folder, or an object of this name below the prefix. */
export const markerName = 'coffer-deployment.json';

/** The checkpoint is beside the marker. */
export const checkpointName = 'coffer-checkpoint.json';

const schema = z.object({ deploymentId: z.uuid() });

export function markerText(deploymentId: string): string {
  return `${JSON.stringify({ deploymentId })}\n`;
}

/** Throws `StoreError` for other text: an administrator may correct it while the server waits. */
export function readMarkerText(text: string, place: string): string {
  try {
    return schema.parse(JSON.parse(text)).deploymentId;
  } catch (error) {
    throw new StoreError(
      'unreachable',
      `${place} does not say which deployment the blobs belong to: it should be {"deploymentId": "…"}`,
      { cause: error },
    );
  }
}

/** The marker of a folder, which several servers may share. This never makes the folder: that would hide that it is not mounted. */
export function folderMarker(folder: string): BlobsMarker {
  const file = join(folder, markerName);
  return {
    async read() {
      try {
        return readMarkerText(await readFile(file, 'utf8'), file);
      } catch (error) {
        if (systemErrorCode(error) === 'ENOENT') return undefined;
        throw unavailable(folder, error);
      }
    },
    async write(deploymentId) {
      // The link makes the whole file appear at once. If several servers start at once, one of them wins.
      const beside = `${file}.${randomUUID()}`;
      try {
        await writeNewFile(beside, markerText(deploymentId));
        try {
          await becomes(beside, file);
        } catch (error) {
          if (systemErrorCode(error) !== 'EEXIST') throw error;
        } finally {
          await unlink(beside);
        }
        await syncFolder(folder);
      } catch (error) {
        throw unavailable(folder, error);
      }
    },
    async readCheckpoint() {
      try {
        return readCheckpointText(await readFile(join(folder, checkpointName), 'utf8'));
      } catch (error) {
        if (systemErrorCode(error) === 'ENOENT') return undefined;
        throw unavailable(folder, error);
      }
    },
    async writeCheckpoint(checkpoint) {
      const beside = join(folder, `${checkpointName}.${randomUUID()}`);
      try {
        await writeNewFile(beside, checkpointText(checkpoint));
        await rename(beside, join(folder, checkpointName));
        await syncFolder(folder);
      } catch (error) {
        await unlink(beside).catch(() => undefined);
        throw unavailable(folder, error);
      }
    },
  };
}

/** Fails with EEXIST if the name is taken. */
async function becomes(beside: string, file: string): Promise<void> {
  try {
    await link(beside, file);
  } catch (error) {
    // Some shared file systems do not support links.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(systemErrorCode(error) ?? '')) throw error;
    await copyFile(beside, file, constants.COPYFILE_EXCL);
  }
}

function unavailable(folder: string, error: unknown): unknown {
  if (isStoreUnavailable(error) || !(error instanceof Error)) return error;
  return new StoreError('unreachable', `the folder ${folder} cannot be used for blobs: ${fileErrorReason(error)}`, {
    cause: error,
  });
}

/** Opens the marker of an address. The AWS client is loaded only for buckets. */
export async function blobsMarker(address: BlobsAddress): Promise<BlobsMarker> {
  if (address.kind === 'files') return folderMarker(address.folder);
  const { bucketMarker } = await import('./s3/bucket-marker.ts');
  return bucketMarker(address);
}
