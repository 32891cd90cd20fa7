import { realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import { ProgramError } from '../../../platform/errors/program-error.ts';

/**
 * Refuses to remove the folder in which the command runs, and those above it, the root of the machine among them, whatever they are called.
 * A path that does not exist is left to the caller.
 *
 * @throws ProgramError Unsafe
 */
export async function requireRemovable(path: string, current = process.cwd()): Promise<void> {
  const [folder, here] = await Promise.all([realpath(path).catch(() => undefined), realpath(current)]);
  if (folder === undefined) return;
  const below = folder.endsWith(sep) ? folder : `${folder}${sep}`;
  if (here !== folder && !here.startsWith(below)) return;
  throw new ProgramError(
    'Unsafe',
    `\`${path}\` is the folder that the command is in or one above it: go to another folder, and name it from there`,
  );
}
