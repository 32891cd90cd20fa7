import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { Change } from './recording.ts';

/** A change of a file that no flush has made durable. */
type Pending = { readonly offset: number; readonly bytes: Buffer } | { readonly length: number };

/** The bytes of a file that surely are on the disk. */
class Image {
  #bytes = Buffer.alloc(0);
  #length = 0;

  apply(change: Pending): void {
    if ('length' in change) this.#resize(change.length);
    else {
      if (change.offset + change.bytes.length > this.#length) this.#resize(change.offset + change.bytes.length);
      change.bytes.copy(this.#bytes, change.offset);
    }
  }

  copy(): Image {
    const copy = new Image();
    copy.#bytes = Buffer.from(this.bytes);
    copy.#length = this.#length;
    return copy;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #resize(length: number): void {
    if (length > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(length, 2 * this.#bytes.length));
      this.bytes.copy(larger);
      this.#bytes = larger;
    } else if (length < this.#length) {
      this.#bytes.fill(0, length, this.#length);
    }
    this.#length = length;
  }
}

/** Flushes left out of the model, to show that a test would notice a server without them. */
export interface LeftOut {
  /** Flushes of files and folders whose path below the base matches. */
  readonly flushesOf?: RegExp;
  /** Those that a descriptor makes of every write. */
  readonly ofDescriptors?: boolean;
}

class File {
  readonly durable = new Image();
  pending: Pending[] = [];
}

class Folder {
  entries = new Map<string, File | Folder>();
  durable = new Map<string, File | Folder>();
  /** The number of the flush that made them durable. */
  flushedBy = 0;
}

/**
 * What the disk holds, rebuilt from a recording under a model as bad as a disk may be: bytes count as written only when a flush of
 * their file that began after them has ended (or by a descriptor that flushes each write), names only when the folder they are in
 * was flushed so. A flush of a file makes no name durable.
 */
export class RecordedDisk {
  readonly #base: string;
  readonly #root = new Folder();
  readonly #leftOut: LeftOut;
  readonly #descriptors = new Map<number, { readonly target: File | Folder; readonly path: string }>();
  readonly #flushing = new Map<number, () => void>();

  constructor(base: string, leftOut: LeftOut = {}) {
    this.#base = base;
    this.#leftOut = leftOut;
  }

  apply(change: Change): void {
    switch (change.kind) {
      case 'open':
        return this.#open(change.fd, change.path, change.truncates);
      case 'write':
        return this.#write(change.fd, change, change.durable && this.#leftOut.ofDescriptors !== true);
      case 'truncate':
        return this.#write(change.fd, { length: change.length }, false);
      case 'rename': {
        const from = this.#parent(change.from);
        const entry = from.folder.entries.get(from.name);
        const to = this.#parent(change.to);
        from.folder.entries.delete(from.name);
        if (entry !== undefined) to.folder.entries.set(to.name, entry);
        return undefined;
      }
      case 'link': {
        const from = this.#parent(change.from);
        const entry = from.folder.entries.get(from.name);
        const to = this.#parent(change.to);
        if (entry !== undefined) to.folder.entries.set(to.name, entry);
        return undefined;
      }
      case 'unlink': {
        const { folder, name } = this.#parent(change.path);
        folder.entries.delete(name);
        return undefined;
      }
      case 'mkdir': {
        const { folder, name } = this.#parent(change.path);
        folder.entries.set(name, new Folder());
        return undefined;
      }
      case 'sync-begin':
        return this.#beginFlush(change.number, change.fd);
      case 'sync-end':
        this.#flushing.get(change.number)?.();
        this.#flushing.delete(change.number);
        return undefined;
      default:
        return change satisfies never;
    }
  }

  /**
   * Writes what the next start would find into an empty folder. Without a random source nothing unflushed survived; with one, any
   * part of it did: each sector of each write or not, each folder's names as they were or as they became. So did any part of the
   * write that was `during` the cut, which flushes itself but had not ended.
   */
  writeTo(target: string, survives?: SeededRandom, during?: Change): void {
    const file = during?.kind === 'write' ? this.#descriptors.get(during.fd)?.target : undefined;
    const torn = during?.kind === 'write' && file instanceof File ? { file, change: during } : undefined;
    writeFolder(this.#root, target, survives, torn);
  }

  #open(fd: number, path: string, truncates: boolean): void {
    const { folder, name } = this.#parent(path);
    const found = path === this.#base ? this.#root : (folder.entries.get(name) ?? new File());
    if (found !== this.#root) folder.entries.set(name, found);
    if (truncates && found instanceof File) found.pending.push({ length: 0 });
    this.#descriptors.set(fd, { target: found, path: relative(this.#base, path) });
  }

  #write(fd: number, change: Pending, durable: boolean): void {
    const file = this.#descriptors.get(fd)?.target;
    if (!(file instanceof File))
      throw new Error(`a write to descriptor ${fd}, which the recording did not open as a file`);
    // An earlier write still pending must not later cover this one.
    if (durable) file.durable.apply(change);
    else file.pending.push(change);
  }

  #beginFlush(number: number, fd: number): void {
    const { target, path = '' } = this.#descriptors.get(fd) ?? {};
    if (this.#leftOut.flushesOf?.test(path) === true) return;
    if (target instanceof File) {
      const flushed = [...target.pending];
      this.#flushing.set(number, () => {
        for (const change of flushed) {
          // Another flush that overlapped may have done it.
          if (!target.pending.includes(change)) continue;
          target.durable.apply(change);
          target.pending = target.pending.filter((other) => other !== change);
        }
      });
    }
    if (target instanceof Folder) {
      const names = new Map(target.entries);
      this.#flushing.set(number, () => {
        // Another flush that began later may have ended before: no disk forgets its names again.
        if (number < target.flushedBy) return;
        target.durable = names;
        target.flushedBy = number;
      });
    }
  }

  #parent(path: string): { folder: Folder; name: string } {
    let folder = this.#root;
    for (const name of relative(this.#base, dirname(path)).split('/')) {
      if (name === '' || name === '..') continue;
      const below = folder.entries.get(name);
      if (!(below instanceof Folder))
        throw new Error(`${path} was changed in a folder that the recording did not make`);
      folder = below;
    }
    return { folder, name: basename(path) };
  }
}

function writeFolder(
  folder: Folder,
  target: string,
  survives: SeededRandom | undefined,
  during: Torn | undefined,
): void {
  mkdirSync(target, { recursive: true, mode: 0o700 });
  const names = survives !== undefined && survives.between(0, 1) === 1 ? folder.entries : folder.durable;
  for (const [name, entry] of names) {
    if (entry instanceof Folder) {
      writeFolder(entry, join(target, name), survives, during);
      continue;
    }
    const image = survives === undefined ? entry.durable : entry.durable.copy();
    if (survives !== undefined) {
      for (const change of entry.pending) applyInPart(image, change, survives);
      if (during?.file === entry) applyInPart(image, during.change, survives);
    }
    writeFileSync(join(target, name), image.bytes, { mode: 0o600 });
  }
}

interface Torn {
  readonly file: File;
  readonly change: Pending;
}

/** What a disk writes whole or not at all, in bytes. */
const SECTOR = 512;

/** Each sector of a write that was not flushed may have reached the disk for itself. */
function applyInPart(image: Image, change: Pending, survives: SeededRandom): void {
  if ('length' in change) {
    if (survives.between(0, 1) === 1) image.apply(change);
    return;
  }
  // All, nothing, and parts each come often.
  const fate = survives.between(1, 3);
  if (fate === 1) image.apply(change);
  if (fate !== 2) return;
  const { offset, bytes } = change;
  for (let at = 0; at < bytes.length;) {
    const end = Math.min(bytes.length, at + SECTOR - ((offset + at) % SECTOR));
    if (survives.between(0, 1) === 1) image.apply({ offset: offset + at, bytes: bytes.subarray(at, end) });
    at = end;
  }
}
