import { join } from 'node:path';
import type { SegmentId } from '../blob-store.ts';
import type { Place } from '../packed-id.ts';
import type { BlobFileSystem, OpenFile } from './file-system.ts';

/** The count of segments whose files stay open. */
const MAX_OPEN = 64;
/** Milliseconds after which an unused file is closed: the space of a removed segment is free only then. */
const MAX_IDLE_MS = 20_000;

interface Handle {
  readonly file: Promise<OpenFile>;
  readers: number;
  used: number;
  /** Bytes that the file is known to have. */
  known: number;
  /** True where it is closed by its last reader. */
  dropped: boolean;
}

/**
 * Opens packed bodies. The files of segments stay open for a while, since many reads go to the same few. On a shared file system each
 * body has a file handle of its own, since an older one may not show what another server appended.
 */
export class SegmentReader {
  readonly #folder: string;
  readonly #fs: Pick<BlobFileSystem, 'open' | 'shared'>;
  readonly #now: () => number;
  /** The segment that was used last comes last. */
  readonly #handles = new Map<SegmentId, Handle>();
  #timer: NodeJS.Timeout | undefined;

  constructor(folder: string, fs: Pick<BlobFileSystem, 'open' | 'shared'>, now: () => number) {
    this.#folder = folder;
    this.#fs = fs;
    this.#now = now;
  }

  /** Throws the errors of `open`: `ENOENT` where there is no such segment. */
  async open(place: Place): Promise<OpenFile> {
    const handle = this.#handle(place.segment);
    handle.readers += 1;
    try {
      return new PackedBody(await handle.file, place, handle, () => this.#leave(handle));
    } catch (error) {
      this.#drop(place.segment, handle);
      this.#leave(handle);
      throw error;
    }
  }

  /** The folder is another one now, or away: its files are opened again. */
  forget(): void {
    for (const [segment, handle] of this.#handles) this.#drop(segment, handle);
  }

  #handle(segment: SegmentId): Handle {
    const known = this.#handles.get(segment);
    this.#handles.delete(segment);
    const isShared = this.#fs.shared === true;
    const handle = known ?? {
      file: this.#fs.open(join(this.#folder, segment)),
      readers: 0,
      used: 0,
      known: 0,
      dropped: isShared,
    };
    if (isShared) return handle;
    handle.used = this.#now();
    this.#handles.set(segment, handle);
    if (known === undefined) this.#dropOldest();
    if (this.#timer === undefined) this.#timer = setInterval(() => this.#dropIdle(), MAX_IDLE_MS / 2).unref();
    return handle;
  }

  #dropOldest(): void {
    if (this.#handles.size <= MAX_OPEN) return;
    for (const [segment, handle] of this.#handles) return this.#drop(segment, handle);
  }

  #dropIdle(): void {
    const before = this.#now() - MAX_IDLE_MS;
    for (const [segment, handle] of this.#handles) {
      if (handle.readers === 0 && handle.used < before) this.#drop(segment, handle);
    }
  }

  #drop(segment: SegmentId, handle: Handle): void {
    if (this.#handles.get(segment) === handle) this.#handles.delete(segment);
    if (handle.dropped) return;
    handle.dropped = true;
    if (handle.readers === 0) close(handle);
  }

  #leave(handle: Handle): void {
    handle.readers -= 1;
    if (handle.dropped && handle.readers === 0) close(handle);
  }
}

/** A file that was not opened needs no close, and one that is closed was only read. */
function close({ file }: Handle): void {
  file.then((opened) => opened.close()).catch(() => undefined);
}

/** The region of a segment as a file of its own. */
class PackedBody implements OpenFile {
  readonly #file: OpenFile;
  readonly #place: Place;
  readonly #handle: Handle;
  readonly #leave: () => void;

  constructor(file: OpenFile, place: Place, handle: Handle, leave: () => void) {
    this.#file = file;
    this.#place = place;
    this.#handle = handle;
    this.#leave = leave;
  }

  read(into: Buffer, position: number): Promise<number> {
    const { offset, length } = this.#place;
    return this.#file.read(into.subarray(0, Math.max(0, length - position)), offset + position);
  }

  /** A file that becomes shorter while it is open shows when it is read. */
  async size(): Promise<number | undefined> {
    const { offset, length } = this.#place;
    if (this.#handle.known < offset + length) {
      const found = await this.#file.size();
      if (found === undefined) return undefined;
      this.#handle.known = found;
    }
    return Math.max(0, Math.min(length, this.#handle.known - offset));
  }

  close(): Promise<void> {
    this.#leave();
    return Promise.resolve();
  }
}
