import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { DriveSpeed, DriveSpeedOptions } from '../administration/support.ts';

interface DriveSpeedContext {
  /** The data folder. */
  readonly folder: string;
  /** Free bytes of its file system; undefined if unknown. */
  readonly free: () => Promise<number | undefined>;
  readonly random: (size: number) => Buffer;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
}

const limits = { blockSize: 64 * 1024 ** 2, fileSize: 4 * 1024 ** 3, freeShare: 0.25, phaseMs: 60_000 } as const;
/** Direct reads need offsets, sizes and addresses that are multiples of it. */
const alignment = 4_096;
const minBlock = 64 * 1024;

/**
 * Measures how fast a file of the data folder is written, flushed, and read. The file has no name while it is used, so that nothing of it
 * stays, whatever ends the process.
 */
export async function measureDrive(
  { folder, free, random, clock }: DriveSpeedContext,
  asked: DriveSpeedOptions,
  signal: AbortSignal,
): Promise<DriveSpeed> {
  const block = Math.max(minBlock, Math.min(asked.blockSize, limits.blockSize));
  const blockSize = block - (block % alignment);
  const maxBytes = Math.min(asked.fileSize, limits.fileSize, ((await free()) ?? Infinity) * limits.freeShare);
  const blocks = Math.max(1, Math.floor(maxBytes / blockSize));
  const path = join(folder, `drive-speed-${random(8).toString('hex')}.tmp`);
  const file = await open(path, 'wx+', 0o600);
  let direct: FileHandle | undefined;
  try {
    direct = await open(path, constants.O_RDONLY | constants.O_DIRECT).catch(() => undefined);
    await unlink(path);
    const data = random(blockSize);
    const writing = phase(clock, signal);
    let written = 0;
    for (; written < blocks && !writing.isOver(); written += 1) {
      await file.write(data, 0, blockSize, written * blockSize);
    }
    await file.datasync();
    const writeMs = writing.ms();
    const buffer = direct === undefined ? undefined : await alignedBuffer(direct, blockSize);
    // The file system may refuse direct reads: then the figure is that of its cache.
    const [source, target] =
      direct === undefined || buffer === undefined ? [file, Buffer.allocUnsafe(blockSize)] : [direct, buffer];
    const reading = phase(clock, signal);
    let read = 0;
    for (; read < written && !reading.isOver(); read += 1) {
      await source.read(target, 0, blockSize, read * blockSize);
    }
    signal.throwIfAborted();
    const rate = (count: number, ms: number) => Math.round((count * blockSize * 1_000) / Math.max(1, ms));
    return {
      path: folder,
      writeBytesPerSecond: rate(written, writeMs),
      readBytesPerSecond: rate(read, reading.ms()),
    };
  } finally {
    await unlink(path).catch(() => undefined);
    await Promise.all([file.close(), direct?.close()]);
  }
}

function phase(clock: () => number, signal: AbortSignal) {
  const began = clock();
  return { ms: () => clock() - began, isOver: () => signal.aborted || clock() - began > limits.phaseMs };
}

/** Finds a place in memory that direct reads take: Node does not show the address of a buffer. Undefined where there is none. */
async function alignedBuffer(file: FileHandle, size: number): Promise<Buffer | undefined> {
  const memory = Buffer.alloc(size + alignment);
  for (let at = 0; at < alignment; at += 16) {
    const buffer = memory.subarray(at, at + size);
    const read = await file.read(buffer, 0, alignment, 0).catch(() => undefined);
    if (read?.bytesRead === alignment) return buffer;
  }
  return undefined;
}
