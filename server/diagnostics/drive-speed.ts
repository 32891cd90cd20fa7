import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { PAGE, WebAssembly } from '../../platform/checksums/wasm-assembly.ts';
import type { DriveSpeed, DriveSpeedOptions } from '../administration/diagnostics.ts';

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
    // The file system may refuse direct reads: then the figure is that of its cache.
    const source = direct ?? file;
    const target = alignedBuffer(blockSize);
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

/** Direct reads need memory that begins at a page, as that of WebAssembly does. */
function alignedBuffer(size: number): Buffer {
  const pages = Math.ceil(size / PAGE);
  return Buffer.from(new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true }).buffer, 0, size);
}
