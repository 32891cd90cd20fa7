import { turn } from '../../../server/store/memory/faults.ts';
import type { BlobFileSystem, NewFile, OpenFile } from '../../../server/store/files/file-system.ts';

/** A file: what programs see of it, and what the disk has of it. */
class Inode {
  bytes = Buffer.alloc(0);
  durable = Buffer.alloc(0);
  modifiedMs = 0;
}

/** Names in a folder: as programs see them, and as the disk has them. */
class Folder {
  entries = new Map<string, Inode | Folder>();
  durable = new Map<string, Inode | Folder>();
}

/** What a power cut leaves of names that were not flushed. A disk may do either, and anything between. */
export type UnsyncedNames = 'lost' | 'kept';

/** Thrown at the step where the power was cut, and at every one after it. */
export class PowerCut extends Error {}

/**
 * A file system in memory that forgets at a power cut what was not flushed: bytes without `syncData`, names without `syncFolder` of
 * the folder they are in. It can be cut before any step, and can leave out a kind of flush, to show that a test would notice.
 */
export class SimulatedDisk implements BlobFileSystem {
  readonly root: string;
  readonly steps: string[] = [];
  readonly #folder: Folder;
  /** The power goes before this step. */
  readonly #cutBefore: number;
  /** Flushes that only pretend. */
  readonly #pretends: (step: string) => boolean;
  readonly #now: () => number;

  constructor(
    root: string,
    options: {
      readonly cutBefore?: number;
      readonly pretends?: (step: string) => boolean;
      readonly folder?: unknown;
      /** The time of a write, in milliseconds; 0 by default. */
      readonly now?: () => number;
    } = {},
  ) {
    this.root = root;
    this.#cutBefore = options.cutBefore ?? Infinity;
    this.#pretends = options.pretends ?? (() => false);
    this.#now = options.now ?? (() => 0);
    this.#folder = options.folder instanceof Folder ? options.folder : new Folder();
  }

  /** The disk as the next start finds it. */
  afterPowerCut(unsynced: UnsyncedNames): SimulatedDisk {
    return new SimulatedDisk(this.root, { folder: survivor(this.#folder, unsynced) });
  }

  makeFolder(path: string): Promise<void> {
    return this.#step(`makeFolder ${this.#relative(path)}`, () => {
      const { folder, name } = this.#parent(path);
      if (!folder.entries.has(name)) folder.entries.set(name, new Folder());
    });
  }

  create(path: string, how?: { readonly direct: boolean }): Promise<NewFile> {
    return this.#step(`create ${this.#relative(path)}`, () => {
      const { folder, name } = this.#parent(path);
      if (folder.entries.has(name)) throw systemError('EEXIST');
      const inode = new Inode();
      inode.modifiedMs = this.#now();
      folder.entries.set(name, inode);
      return this.#newFile(path, inode, how?.direct === true);
    });
  }

  rename(from: string, to: string): Promise<void> {
    return this.#step(`rename ${this.#relative(from)} ${this.#relative(to)}`, () => {
      const source = this.#parent(from);
      const target = this.#parent(to);
      const entry = source.folder.entries.get(source.name);
      if (entry === undefined) throw systemError('ENOENT');
      source.folder.entries.delete(source.name);
      target.folder.entries.set(target.name, entry);
    });
  }

  unlink(path: string): Promise<void> {
    return this.#step(`unlink ${this.#relative(path)}`, () => {
      const { folder, name } = this.#parent(path);
      if (!folder.entries.delete(name)) throw systemError('ENOENT');
    });
  }

  syncFolder(path: string): Promise<void> {
    const step = `syncFolder ${this.#relative(path)}`;
    return this.#step(step, () => {
      const folder = this.#find(path);
      if (!(folder instanceof Folder)) throw systemError('ENOENT');
      if (!this.#pretends(step)) folder.durable = new Map(folder.entries);
    });
  }

  /** Overwrites stored bytes, as a fault of the disk does. */
  overwrite(path: string, bytes: Buffer, position: number): void {
    const inode = this.#find(path);
    if (!(inode instanceof Inode)) throw systemError('ENOENT');
    inode.bytes = Buffer.from(inode.bytes);
    bytes.copy(inode.bytes, position);
  }

  async open(path: string): Promise<OpenFile> {
    const inode = await Promise.resolve(this.#find(path));
    if (!(inode instanceof Inode)) throw systemError('ENOENT');
    return {
      read: (into, position) => Promise.resolve(inode.bytes.copy(into, 0, position)),
      size: () => Promise.resolve(inode.bytes.length),
      close: () => Promise.resolve(),
    };
  }

  async *names(path: string): AsyncIterable<string> {
    const folder = await Promise.resolve(this.#find(path));
    if (folder instanceof Folder) yield* folder.entries.keys();
  }

  // eslint-disable-next-line typescript/require-await -- a missing file must reject, not throw
  async stat(path: string): Promise<{ size: number; modifiedMs: number }> {
    const inode = this.#find(path);
    if (!(inode instanceof Inode)) throw systemError('ENOENT');
    return { size: inode.bytes.length, modifiedMs: inode.modifiedMs };
  }

  identity(): Promise<string> {
    return Promise.resolve('1:1');
  }

  space(): Promise<{ free: number; total: number }> {
    return Promise.resolve({ free: 1, total: 1 });
  }

  #newFile(path: string, inode: Inode, direct: boolean): NewFile {
    const writeAt = (bytes: Buffer, position: number) =>
      this.#step(`write ${this.#relative(path)}`, () => {
        const written = Buffer.alloc(Math.max(inode.bytes.length, position + bytes.length));
        inode.bytes.copy(written);
        bytes.copy(written, position);
        inode.bytes = written;
        inode.modifiedMs = this.#now();
      });
    return {
      isDirect: direct,
      write: (chunks, position = inode.bytes.length) => writeAt(Buffer.concat(chunks), position),
      writeAt,
      truncate: (length) =>
        this.#step(`truncate ${this.#relative(path)}`, () => {
          inode.bytes = Buffer.from(inode.bytes.subarray(0, length));
        }),
      syncData: () => {
        const step = `syncData ${this.#relative(path)}`;
        return this.#step(step, () => {
          if (!this.#pretends(step)) inode.durable = inode.bytes;
        });
      },
      close: () => Promise.resolve(),
    };
  }

  /** Steps take turns, so that callers at once interleave; flushes take longer, so that one not waited for comes too late. */
  async #step<T>(step: string, act: () => T): Promise<T> {
    for (let turns = step.startsWith('sync') ? 5 : 1; turns > 0; turns -= 1) await turn();
    if (this.steps.length >= this.#cutBefore) throw new PowerCut(`before ${step}`);
    this.steps.push(step);
    return act();
  }

  #relative(path: string): string {
    return path === this.root ? '.' : path.slice(this.root.length + 1);
  }

  #parent(path: string): { folder: Folder; name: string } {
    const slash = path.lastIndexOf('/');
    const folder = this.#find(path.slice(0, slash));
    if (!(folder instanceof Folder)) throw systemError('ENOENT');
    return { folder, name: path.slice(slash + 1) };
  }

  #find(path: string): Inode | Folder | undefined {
    let found: Inode | Folder | undefined = this.#folder;
    for (const name of path.slice(this.root.length).split('/').filter(Boolean)) {
      found = found instanceof Folder ? found.entries.get(name) : undefined;
    }
    return found;
  }
}

function survivor(folder: Folder, unsynced: UnsyncedNames): Folder {
  const copy = new Folder();
  for (const [name, entry] of unsynced === 'lost' ? folder.durable : folder.entries) {
    if (entry instanceof Folder) copy.entries.set(name, survivor(entry, unsynced));
    else {
      const inode = new Inode();
      inode.bytes = entry.durable;
      inode.durable = entry.durable;
      copy.entries.set(name, inode);
    }
  }
  copy.durable = new Map(copy.entries);
  return copy;
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
