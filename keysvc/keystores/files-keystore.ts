import { fileErrorReason } from '../../platform/errors/system-error.ts';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { keyNameError } from '../../protocol/key-service/names.ts';
import { createFileAtomically, isTemporaryName, syncFolder } from '../../platform/files/atomic-file.ts';
import { type FolderMark, openMarkedFolder } from './files-mark.ts';
import { KeyError, maxRecordBytes, type KeyStore } from './keystore.ts';

/**
 * Opens a folder with one file (0600) for each key. The folder (0700) is created only where none was in use at this path.
 *
 * @throws KeyError `unavailable`
 */
export async function openFilesKeyStore(folder: string): Promise<KeyStore> {
  try {
    const path = resolve(folder);
    const mark = await openMarkedFolder(path);
    await removeHalfWritten(path);
    return new FilesKeyStore(path, mark);
  } catch (error) {
    if (error instanceof KeyError) throw error;
    throw unavailable(`cannot open the key folder ${folder}`, error);
  }
}

class FilesKeyStore implements KeyStore {
  readonly #folder: string;
  readonly #mark: FolderMark;

  constructor(folder: string, mark: FolderMark) {
    this.#folder = folder;
    this.#mark = mark;
  }

  async create(name: string, record: Buffer): Promise<void> {
    const path = this.#path(name);
    // The folder of a lost mount is writable too. A key there would be hidden when the disk is back.
    await this.#mark.check();
    try {
      await createFileAtomically(path, record);
    } catch (error) {
      if (errorCode(error) === 'EEXIST') throw new KeyError('exists', `${path} exists already`, { cause: error });
      throw unavailable(`cannot write ${path}`, error);
    }
    await this.#mark.check();
  }

  async get(name: string): Promise<Buffer> {
    const path = this.#path(name);
    // A file may be missing, or another, because its folder is. The mark is seen before and after.
    await this.#mark.check();
    const record = await this.#read(path);
    await this.#mark.check();
    if (record === undefined) throw new KeyError('not-found', `${path} does not exist`);
    return record;
  }

  async delete(name: string): Promise<void> {
    const path = this.#path(name);
    await this.#mark.check();
    let isMissing = false;
    try {
      await rm(path);
      await syncFolder(this.#folder);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw unavailable(`cannot delete ${path}`, error);
      isMissing = true;
    }
    await this.#mark.check();
    if (isMissing) throw new KeyError('not-found', `${path} does not exist`);
  }

  async *list(): AsyncIterable<string> {
    await this.#mark.check();
    let entries;
    try {
      entries = await readdir(this.#folder, { withFileTypes: true });
    } catch (error) {
      throw unavailable(`cannot list ${this.#folder}`, error);
    }
    await this.#mark.check();
    for (const entry of entries) if (entry.isFile() && keyNameError(entry.name) === undefined) yield entry.name;
  }

  probe(): Promise<void> {
    return this.#mark.check();
  }

  async close(): Promise<void> {}

  /** Calls validate names. This check keeps other callers inside the folder. */
  #path(name: string): string {
    const issue = keyNameError(name);
    if (issue !== undefined) throw new KeyError('not-found', issue);
    return join(this.#folder, name);
  }

  /** Undefined where there is no such file. */
  async #read(path: string): Promise<Buffer | undefined> {
    try {
      const handle = await open(path, 'r');
      try {
        const { size } = await handle.stat();
        if (size > maxRecordBytes) throw new KeyError('corrupted', `${path} is no key: it holds ${size} bytes`);
        return await handle.readFile();
      } finally {
        await handle.close();
      }
    } catch (error) {
      if (error instanceof KeyError) throw error;
      if (errorCode(error) === 'ENOENT') return undefined;
      throw unavailable(`cannot read ${path}`, error);
    }
  }
}

/** Files of interrupted writes hold keys that no caller has seen. */
async function removeHalfWritten(folder: string): Promise<void> {
  const hour = 3_600_000;
  for (const name of await readdir(folder)) {
    if (!isTemporaryName(name)) continue;
    const path = join(folder, name);
    // A recent one may be a write of another process on a shared folder.
    const age = Date.now() - (await stat(path).catch(() => ({ mtimeMs: Date.now() }))).mtimeMs;
    if (age > hour) await rm(path, { force: true });
  }
}

function unavailable(what: string, error: unknown): KeyError {
  return new KeyError('unavailable', `${what}: ${fileErrorReason(error)}`, { cause: error });
}

function errorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
