import { accessSync, chownSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { fileErrorReason } from '../../platform/errors/system-error.ts';

const isRoot = (): boolean => process.geteuid?.() === 0;

/**
 * Gives a file or folder that root has made to the owner of the folder that it is in. An administrator runs tools as root, and the server, which
 * runs as another user, must be able to use what they leave.
 */
export function keepOwner(path: string): void {
  if (!isRoot()) return;
  const { uid, gid } = statSync(dirname(path));
  if (uid !== 0) chownSync(path, uid, gid);
}

/** Throws `ProgramError` for an existing file that this process may not write, with its owner and the cure. */
export function checkWritable(path: string): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return;
    throw notWritable(path, found.uid, error);
  }
}

function notWritable(path: string, owner: number, error: unknown): ProgramError {
  const self = process.geteuid?.() ?? -1;
  const cure =
    owner === self
      ? `make it readable and writable (chmod 600 ${path})`
      : `it belongs to the user ${owner}, and this program runs as ${self}: give it to that user (chown ${self} ${path})`;
  return new ProgramError('data-folder', `${path} cannot be written: ${fileErrorReason(error)}; ${cure}`, {
    cause: error,
  });
}
