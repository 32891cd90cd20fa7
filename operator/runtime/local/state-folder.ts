import { ProgramError } from '../../../platform/errors/program-error.ts';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createFileAtomically, removeUnfinished } from '../../../platform/files/atomic-file.ts';
import { identifyProcess, isRunning, parseIdentity } from './process-identity.ts';

/** The folder with all data of the local runtime. Only its user may enter. */
export class StateFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = resolve(path);
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    chmodSync(this.path, 0o700);
  }

  /** Returns the path of a file or folder in it. */
  at(...parts: readonly string[]): string {
    return join(this.path, ...parts);
  }

  /** Returns the path of a folder in it, and makes the folder if needed. */
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

  /** Returns a value that is made once and kept in a 0600 file: a password, a key. */
  async madeOnce(make: () => string, ...parts: readonly string[]): Promise<string> {
    const known = await this.readText(...parts);
    if (known !== undefined && known.trim() !== '') return known.trim();
    this.folder(...parts.slice(0, -1));
    const value = make();
    await removeUnfinished(this.at(...parts));
    await createFileAtomically(this.at(...parts), `${value}\n`);
    return value;
  }
}

/** Makes a password of 192 random bits that needs no quotes in a shell. */
export function randomPassword(): string {
  return randomBytes(24).toString('base64url').replaceAll('-', 'x').replaceAll('_', 'y');
}

/**
 * Locks the state folder for this process, and answers a function that unlocks it. A lock of a process that died is taken over. Errors when
 * another operator holds it.
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
      throw new ProgramError(
        'in-use',
        `${state.path} is in use by process ${holder.pid}: stop it, or name another folder with --state`,
      );
    }
    rmSync(path, { force: true });
  }
  throw new ProgramError('in-use', `${path} is taken again and again by other processes: see who starts them`);
}

function readHolder(path: string) {
  try {
    return parseIdentity(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
