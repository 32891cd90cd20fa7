import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createFileAtomically } from '../../../platform/atomic-file.ts';
import { identifyProcess, isRunning, parseIdentity } from './process-identity.ts';

/** Where the local runtime keeps everything. Only its user may enter. */
export class StateFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = resolve(path);
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    chmodSync(this.path, 0o700);
  }

  /** The path of a file or folder in it. */
  at(...parts: readonly string[]): string {
    return join(this.path, ...parts);
  }

  /** The path of a folder in it, made where it is missing. */
  folder(...parts: readonly string[]): string {
    const path = this.at(...parts);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  }

  async readText(...parts: readonly string[]): Promise<string | undefined> {
    try {
      return await readFile(this.at(...parts), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** A value that is made once and kept in a 0600 file: a password, a key. */
  async madeOnce(make: () => string, ...parts: readonly string[]): Promise<string> {
    const known = await this.readText(...parts);
    if (known !== undefined && known.trim() !== '') return known.trim();
    this.folder(...parts.slice(0, -1));
    const value = make();
    await createFileAtomically(this.at(...parts), `${value}\n`);
    return value;
  }
}

/** A password of 192 random bits that survives any shell unquoted. */
export function randomPassword(): string {
  return randomBytes(24).toString('base64url').replaceAll('-', 'x').replaceAll('_', 'y');
}

/** Another operator runs on this state folder. */
export class StateInUse extends Error {
  override readonly name = 'StateInUse';
  readonly code = 'StateInUse';
}

/**
 * Holds the state folder for this process; answers how to let go. One left behind by a process that died is taken over.
 * Errors with `StateInUse`.
 */
export async function lockState(state: StateFolder): Promise<() => void> {
  const path = state.at('operator.lock');
  const self = identifyProcess(process.pid) ?? { pid: process.pid, startedAt: 'unknown' };
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      await createFileAtomically(path, `${JSON.stringify(self)}\n`);
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = readHolder(path);
    if (holder !== undefined && isRunning(holder)) {
      throw new StateInUse(
        `${state.path} is in use by process ${holder.pid}: stop it, or name another folder with --state`,
      );
    }
    rmSync(path, { force: true });
  }
  throw new StateInUse(`${path} is taken again and again by other processes: see who starts them`);
}

function readHolder(path: string) {
  try {
    return parseIdentity(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
