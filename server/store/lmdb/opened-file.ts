import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileErrorReason, systemErrorCode } from '../../../platform/errors/system-error.ts';
import { StoreError } from '../store-error.ts';

/**
 * The record file of an environment that is open. LMDB writes to the file that it opened, also when its name leads to another one: after the
 * file was removed or replaced, or its volume went, each commit would be lost at the next start.
 */
export class OpenedFile {
  readonly #path: string;
  readonly #identity: string | undefined;

  constructor(folder: string) {
    this.#path = join(folder, 'data.mdb');
    this.#identity = identityOf(this.#path);
  }

  /** Returns why commits are refused. A file that cannot be looked at is not one that is gone. It takes two microseconds. */
  fault(): StoreError | undefined {
    try {
      if (identityOf(this.#path) === this.#identity) return undefined;
      return away(this.#path, 'it is not the file that this server opened');
    } catch (error) {
      const code = systemErrorCode(error);
      if (code !== 'ENOENT' && code !== 'ENOTDIR') return undefined;
      return away(this.#path, fileErrorReason(error));
    }
  }
}

function identityOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}

function away(path: string, reason: string): StoreError {
  return new StoreError(
    'unreachable',
    `the record file ${path} is away: ${reason}. Mount its volume again or put the file back, or restart the server`,
  );
}
