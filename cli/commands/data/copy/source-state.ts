import { randomBytes } from 'node:crypto';
import { linkSync, renameSync, statSync, unlinkSync, type BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
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

/**
 * Removes a file, or a link to one, that still has the state. The system has no call that does both: the file gets another name first, so that
 * a program that writes to its path from then on makes a new file, which stays. The calls follow each other on this thread. What a program
 * writes through a descriptor that it opened before goes with the file, as with every removal.
 *
 * @throws SourceChangedError if it has another state; the file stays
 */
export function removeInState(path: string, state: FileState): void {
  if (!isSame(stateOf(statSync(path, { bigint: true })), state)) throw changed();
  const aside = asideOf(path);
  renameSync(path, aside);
  // The rename itself is a change of the attributes.
  const { changedNs } = state;
  if (isSame({ ...stateOf(statSync(aside, { bigint: true })), changedNs }, state)) unlinkSync(aside);
  else giveBack(aside, path);
}

/** Bytes. A name has at most 255. */
const maxRepeated = 200;

/** The name of a file while it is removed. It is visible, since a command that is killed then leaves the file under it. */
function asideOf(path: string): string {
  const name = basename(path);
  const repeated = Buffer.byteLength(name) <= maxRepeated ? name : 'file';
  return join(dirname(path), `${repeated}.${randomBytes(8).toString('hex')}.moved`);
}

/** Gives a file its name again. A file that another program made there meanwhile is not replaced. @throws SourceChangedError */
function giveBack(aside: string, path: string): never {
  try {
    linkSync(aside, path);
    unlinkSync(aside);
  } catch {
    throw new SourceChangedError(`the file changed while it was copied, and is now \`${aside}\``);
  }
  throw changed();
}

/** Reads the present state of a file, and follows links. */
export async function readState(path: string): Promise<FileState> {
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
