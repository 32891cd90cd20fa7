import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { createFileAtomically, isTemporaryName, writeFileAtomically } from '../../platform/files/atomic-file.ts';
import { fileErrorReason } from '../../platform/errors/system-error.ts';
import { keyNameError } from '../../protocol/key-service/names.ts';
import { KeyError } from './keystore.ts';

/** The name of the mark in the folder of the keys. No key has a name with a dot. */
export const markName = '.keystore';

const markSchema = z.object({ id: z.uuid() });

/** Proves that a folder is still the one with the keys, so that a file that is missing there is a key that does not exist. */
export interface FolderMark {
  /** @throws KeyError `unavailable` where the folder is gone, or another one is in its place */
  check(): Promise<void>;
}

/**
 * Opens the folder and its mark. A folder that does not exist, or is empty, is begun only where none was in use at this path. A second mark
 * beside the folder remembers that: the place where a lost disk was mounted looks like a new folder.
 *
 * @throws KeyError `unavailable`
 */
export async function openMarkedFolder(folder: string): Promise<FolderMark> {
  const beside = besidePath(folder);
  const inUse = await readMark(beside);
  const entries = await entriesOf(folder);
  const own = entries === undefined ? undefined : await readMark(join(folder, markName));
  if (inUse !== undefined && own !== undefined && own !== inUse) {
    throw new KeyError(
      'unavailable',
      `the key folder ${folder} is the key store ${own}, but ${inUse} was in use here: mount the right one. ` +
        `If ${own} is the right one, remove ${beside}, which holds no key`,
    );
  }
  const hasKeys = entries?.some((name) => keyNameError(name) === undefined && name !== 'lost+found') === true;
  if (inUse !== undefined && own === undefined && !hasKeys) {
    throw new KeyError(
      'unavailable',
      `the key folder ${folder} was in use as the key store ${inUse} and ${entries === undefined ? 'does not exist' : 'is empty'}: ` +
        'mount its disk, or restore it. A new key service needs a path of its own under keystore.fs.path',
    );
  }
  if (entries === undefined) await mkdir(folder, { recursive: true, mode: 0o700 });
  const id = own ?? (await writeMark(join(folder, markName), inUse ?? randomUUID()));
  if (id !== undefined && inUse === undefined) await rememberBeside(beside, id);
  return id === undefined ? sameFolder(folder) : markedFolder(folder, id);
}

function besidePath(folder: string): string {
  return join(dirname(folder), `.${basename(folder)}${markName}`);
}

function markedFolder(folder: string, id: string): FolderMark {
  return {
    async check() {
      const found = await readMark(join(folder, markName));
      if (found === id) return;
      throw new KeyError(
        'unavailable',
        found === undefined
          ? `the key folder ${folder} is not there: its mark ${markName} is missing. Is its disk mounted?`
          : `the key folder ${folder} is another key store (${found}) than the one that was opened (${id})`,
      );
    },
  };
}

/** A folder that cannot be written has no mark. It is known by its place on the disk. */
async function sameFolder(folder: string): Promise<FolderMark> {
  const placeOf = async () => {
    const { dev, ino } = await stat(folder, { bigint: true });
    return `${dev} ${ino}`;
  };
  const opened = await placeOf();
  return {
    async check() {
      let found;
      try {
        found = await placeOf();
      } catch (error) {
        throw new KeyError('unavailable', `the key folder ${folder} cannot be read: ${fileErrorReason(error)}`, {
          cause: error,
        });
      }
      if (found === opened) return;
      throw new KeyError('unavailable', `the key folder ${folder} is another folder than the one that was opened`);
    },
  };
}

/** Undefined where the folder does not exist. */
async function entriesOf(folder: string): Promise<string[] | undefined> {
  try {
    return (await readdir(folder)).filter((name) => !isTemporaryName(name));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Undefined where there is no mark. */
async function readMark(path: string): Promise<string | undefined> {
  let text;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new KeyError('unavailable', `cannot read the mark ${path} of the key store: ${fileErrorReason(error)}`, {
      cause: error,
    });
  }
  try {
    return markSchema.parse(JSON.parse(text)).id;
  } catch (error) {
    throw new KeyError('unavailable', `${path} is not the mark of a key store`, { cause: error });
  }
}

/** Of several servers that open a new folder, one writes the mark. Undefined where the folder cannot be written. */
async function writeMark(path: string, id: string): Promise<string | undefined> {
  try {
    await createFileAtomically(path, JSON.stringify({ id }));
    return id;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return existingMark(path);
    if (isReadOnly(error)) return undefined;
    throw error;
  }
}

async function existingMark(path: string): Promise<string> {
  const id = await readMark(path);
  if (id !== undefined) return id;
  throw new KeyError(
    'unavailable',
    `the mark ${path} of the key store is there and cannot be read: see where it leads`,
  );
}

/** The place beside the folder may not be writable, as in a container. Then the server's knowledge of its keys alone detects a lost disk. */
async function rememberBeside(path: string, id: string): Promise<void> {
  try {
    await writeFileAtomically(path, JSON.stringify({ id }));
  } catch (error) {
    if (!isReadOnly(error)) throw error;
  }
}

function isReadOnly(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'EROFS' || code === 'EACCES' || code === 'EPERM';
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
