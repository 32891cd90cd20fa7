import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { inPieces, read, someBlobId } from '../../../test/support/store/blob-store.conformance.ts';
import { type BlobId } from '../blob-store.ts';
import { isStoreError } from '../store-error.ts';
import { openFilesBlobStore } from './blob-store.ts';
import { inFullForm } from '../../../test/support/full-form.ts';
import { PowerCut, SimulatedDisk, type UnsyncedNames } from '../../../test/support/store/simulated-disk.ts';

const SIZE = 1_200_000;

interface Written {
  readonly id: BlobId;
  readonly bytes: Buffer;
  answered: boolean;
}

interface Disk {
  readonly cutBefore?: number;
  readonly pretends?: (step: string) => boolean;
  /** Writes with `release`. */
  readonly borrowed?: boolean;
}

async function* copies(bytes: Buffer, size: number): AsyncIterable<Buffer> {
  for await (const chunk of inPieces(bytes, size)) yield Buffer.from(chunk);
}

/** The memory is filled by the next upload: a store that writes it later writes other bytes. */
const release = (chunk: Buffer) => chunk.fill(0);

/** They are the same in each of the hundreds of workloads. */
const contents = ['aa', 'aa', 'bb', 'aa'].map((folder) => ({ folder, bytes: randomBytes(SIZE) }));

/** Two blobs into one folder and one into another, at once, then one more: until all are answered or the power is cut. */
async function workload(options: Disk): Promise<{ disk: SimulatedDisk; written: Written[] }> {
  const disk = new SimulatedDisk('/blobs', options);
  const store = openFilesBlobStore('/blobs', { fs: disk });
  const written = contents.map(({ folder, bytes }) => ({
    id: (someBlobId().slice(0, 30) + folder) as BlobId,
    bytes,
    answered: false,
  }));
  const write = async (blob: Written) => {
    try {
      await (options.borrowed === true
        ? store.write(blob.id, copies(blob.bytes, 300_000), { release })
        : store.write(blob.id, inPieces(blob.bytes, 300_000)));
      blob.answered = true;
    } catch (error) {
      if (!(error instanceof PowerCut)) throw error;
    }
  };
  await Promise.all(written.slice(0, 3).map(write));
  await Promise.all(written.slice(3).map(write));
  return { disk, written };
}

/** What a start after the power cut finds wrong: an answered blob that is not whole, or any blob that shows and is not whole. */
async function damage(
  { disk, written }: { disk: SimulatedDisk; written: Written[] },
  unsynced: UnsyncedNames,
): Promise<string[]> {
  const store = openFilesBlobStore('/blobs', { fs: disk.afterPowerCut(unsynced) });
  const found: string[] = [];
  for (const blob of written) {
    try {
      const bytes = await read(store, blob.id, 0, SIZE);
      if (!bytes.equals(blob.bytes)) found.push('a blob has other bytes');
    } catch (error) {
      if (!isStoreError(error, 'blob-missing')) found.push('a blob shows that is not whole');
      else if (blob.answered) found.push('an answered blob is gone');
    }
  }
  return found;
}

/** `npm test` cuts the power before every third step. */
const stride = inFullForm(1, 3);

/** The damage of the workload with the power cut before its steps, and after the last: of each cut, until the caller has enough. */
async function* damageAtSteps(options: Disk): AsyncIterable<string> {
  const { length } = (await workload(options)).disk.steps;
  for (let cutBefore = length; cutBefore >= 0; cutBefore -= stride) {
    const run = await workload({ ...options, cutBefore });
    yield* await damage(run, 'lost');
    yield* await damage(run, 'kept');
  }
}

/** Goes on to the first damage of this kind. */
async function finds(wanted: string, options: Disk): Promise<boolean> {
  for await (const found of damageAtSteps(options)) if (found === wanted) return true;
  return false;
}

describe('a power cut before any step of the files engine', () => {
  it('leaves every answered blob whole, and no other one showing in part', async () => {
    expect(await Array.fromAsync(damageAtSteps({}))).toEqual([]);
  });

  it('leaves them whole that were written by pieces', async () => {
    expect(await Array.fromAsync(damageAtSteps({ borrowed: true }))).toEqual([]);
  });

  it('would be noticed to lose bytes without the flush of the file', async () => {
    expect(
      await finds('a blob shows that is not whole', { pretends: (step: string) => step.startsWith('syncData') }),
    ).toBe(true);
  });

  it('would be noticed to lose names without the flush of the folder', async () => {
    expect(
      await finds('an answered blob is gone', { pretends: (step: string) => /^syncFolder (aa|bb)$/.test(step) }),
    ).toBe(true);
  });

  it('would be noticed to lose folders without the flush of the folder above', async () => {
    expect(await finds('an answered blob is gone', { pretends: (step: string) => step === 'syncFolder .' })).toBe(true);
  });
});

describe('the files engine', () => {
  it('flushes the file before its name, the name before the answer, and the folder’s name before all', async () => {
    const disk = new SimulatedDisk('/blobs');
    const id = someBlobId();
    const folder = id.slice(-2);
    await openFilesBlobStore('/blobs', { fs: disk }).write(id, inPieces(Buffer.alloc(10), 10));
    expect(disk.steps).toEqual([
      `makeFolder ${folder}`,
      'syncFolder .',
      `create ${folder}/${id}.part`,
      `write ${folder}/${id}.part`,
      `syncData ${folder}/${id}.part`,
      `rename ${folder}/${id}.part ${folder}/${id}`,
      `syncFolder ${folder}`,
    ]);
  });
});
