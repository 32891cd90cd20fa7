import { statSync, unlinkSync, type BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDiskFast, onThisThread } from '../entries/disk-calls.ts';

/** One state of a file. Any write, rename or replacement of the file gives it another one. */
export interface FileState {
  readonly device: bigint;
  readonly inode: bigint;
  /** Bytes. */
  readonly size: number;
  readonly modifiedNs: bigint;
  /** The time of the last change of bytes or attributes, which no program can set. */
  readonly changedNs: bigint;
}

/** The source is no longer what the copy began with. */
export class SourceChangedError extends Error {
  override readonly name = 'SourceChangedError';
  readonly code = 'SourceChanged';
}

/** Milliseconds. Kernels date changes in steps of up to 10 ms: a second change within one step leaves no trace. */
export const clockStepMs = 20;

/**
 * Reads the state of a file, and follows links, as a copy does. It waits until the last change is older than a step of the clock, so that a
 * later change has another time.
 */
export async function settledState(path: string): Promise<FileState> {
  const state = await readState(path);
  const age = BigInt(Date.now()) * 1_000_000n - state.changedNs;
  if (age < 0n || age > BigInt(clockStepMs) * 1_000_000n) return state;
  await sleep(clockStepMs);
  return readState(path);
}

/** @throws SourceChangedError */
export async function expectState(path: string, state: FileState): Promise<void> {
  const now = await readState(path).catch(() => undefined);
  if (now === undefined || !isSame(now, state)) throw changed();
}

/** Removes a file that still has the state. The system has no call that does both, so the two calls follow each other on this thread. */
export function removeInState(path: string, state: FileState): void {
  if (!isSame(stateOf(statSync(path, { bigint: true })), state)) throw changed();
  unlinkSync(path);
}

async function readState(path: string): Promise<FileState> {
  return stateOf(
    isDiskFast() ? onThisThread(() => statSync(path, { bigint: true })) : await stat(path, { bigint: true }),
  );
}

function stateOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): FileState {
  return { device: dev, inode: ino, size: Number(size), modifiedNs: mtimeNs, changedNs: ctimeNs };
}

function isSame(one: FileState, other: FileState): boolean {
  return (
    one.device === other.device &&
    one.inode === other.inode &&
    one.size === other.size &&
    one.modifiedNs === other.modifiedNs &&
    one.changedNs === other.changedNs
  );
}

function changed(): SourceChangedError {
  return new SourceChangedError('the file changed while it was copied');
}

/** Returns the error for an object that was replaced. */
export function objectChanged(): SourceChangedError {
  return new SourceChangedError('the object was replaced while it was copied');
}
