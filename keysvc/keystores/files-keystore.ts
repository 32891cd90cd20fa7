import { fileErrorReason } from '../../platform/system-error.ts';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { keyNameError } from '../../protocol/key-service/names.ts';
import { createFileAtomically, isTemporaryName, syncFolder } from '../../platform/atomic-file.ts';
import { KeyError, maxRecordBytes, type KeyStore } from './keystore.ts';

/** Opens a folder with one file (0600) for each key, and creates the folder (0700) when it is missing. */
export async function openFilesKeyStore(folder: string): Promise<KeyStore> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await removeHalfWritten(folder);
  } catch (error) {
    throw unavailable(`cannot open the key folder ${folder}`, error);
  }
  return new FilesKeyStore(folder);
}

class FilesKeyStore implements KeyStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async create(name: string, record: Buffer): Promise<void> {
    const path = this.#path(name);
    try {
      await createFileAtomically(path, record);
    } catch (error) {
      if (errorCode(error) === 'EEXIST') throw new KeyError('exists', `${path} exists already`, { cause: error });
      throw unavailable(`cannot write ${path}`, error);
    }
  }

  async get(name: string): Promise<Buffer> {
    const path = this.#path(name);
    try {
      const handle = await open(path, 'r');
      try {
        const { size } = await handle.stat();
        if (size > maxRecordBytes) {
          throw new KeyError('corrupted', `${path} is no key: it holds ${size} bytes`);
        }
        return await handle.readFile();
      } finally {
        await handle.close();
      }
    } catch (error) {
      if (error instanceof KeyError) throw error;
      throw this.#missingOr(`cannot read ${path}`, path, error);
    }
  }

  async delete(name: string): Promise<void> {
    const path = this.#path(name);
    try {
      await rm(path);
      await syncFolder(this.#folder);
    } catch (error) {
      throw this.#missingOr(`cannot delete ${path}`, path, error);
    }
  }

  async *list(): AsyncIterable<string> {
    let entries;
    try {
      entries = await readdir(this.#folder, { withFileTypes: true });
    } catch (error) {
      throw unavailable(`cannot list ${this.#folder}`, error);
    }
    for (const entry of entries) if (entry.isFile() && keyNameError(entry.name) === undefined) yield entry.name;
  }

  async probe(): Promise<void> {
    try {
      if ((await stat(this.#folder)).isDirectory()) return;
    } catch (error) {
      throw unavailable(`the key folder ${this.#folder} cannot be read`, error);
    }
    throw new KeyError('unavailable', `${this.#folder} is no folder`);
  }

  async close(): Promise<void> {}

  /** Calls validate names. This check keeps other callers inside the folder. */
  #path(name: string): string {
    const issue = keyNameError(name);
    if (issue !== undefined) throw new KeyError('not-found', issue);
    return join(this.#folder, name);
  }

  #missingOr(what: string, path: string, error: unknown): KeyError {
    if (errorCode(error) === 'ENOENT') return new KeyError('not-found', `${path} does not exist`, { cause: error });
    return unavailable(what, error);
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
