import { open, readdir, readFile, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDurableFolder, syncFolder } from '../../store/durable-file.ts';

/** A queue of entries for a target, in order. */
export interface WaitingLines {
  /** The count of entries that are neither delivered nor abandoned. */
  readonly count: number;
  /** Returns false where the queue is full: the line is lost. */
  push(line: string): boolean;
  /** Resolves to the next lines as soon as there are some; undefined after `end` when nothing is left. */
  next(): Promise<readonly string[] | undefined>;
  /** Called when the lines of the last `next` are delivered or abandoned. */
  done(): Promise<void>;
  /**
   * Keeps lines that are not delivered, and returns the path of their file; undefined where there is no room for them. They count as
   * abandoned.
   */
  setAside(lines: readonly string[]): Promise<string | undefined>;
  /** Called when no more lines follow. */
  end(): Promise<void>;
}

/** The bounds of a queue, in lines and in bytes. */
export interface WaitingBounds {
  readonly lines: number;
  readonly bytes: number;
}

/** The maximum of lines of one `next`. */
const maxBatch = 256;

/** A queue in memory: a restart loses it. */
export class MemoryLines implements WaitingLines {
  readonly #bounds: WaitingBounds;
  #waiting: string[] = [];
  #underWay: readonly string[] = [];
  #bytes = 0;
  #ended = false;
  #wake: () => void = () => undefined;

  constructor(bounds: WaitingBounds) {
    this.#bounds = bounds;
  }

  get count(): number {
    return this.#waiting.length + this.#underWay.length;
  }

  push(line: string): boolean {
    if (this.count >= this.#bounds.lines || this.#bytes + line.length > this.#bounds.bytes) return false;
    this.#waiting.push(line);
    this.#bytes += line.length;
    this.#wake();
    return true;
  }

  async next(): Promise<readonly string[] | undefined> {
    while (this.#waiting.length === 0) {
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#underWay = this.#waiting.splice(0, maxBatch);
    return this.#underWay;
  }

  done(): Promise<void> {
    for (const { length } of this.#underWay) this.#bytes -= length;
    this.#underWay = [];
    return Promise.resolve();
  }

  setAside(_lines: readonly string[]): Promise<string | undefined> {
    return Promise.resolve(undefined);
  }

  end(): Promise<void> {
    this.#ended = true;
    this.#wake();
    return Promise.resolve();
  }
}

/** The file of a folder for the entries that were set aside. */
const asideName = 'refused.ndjson';

/** A file that exceeds these gets no more lines. */
const fullFile = { lines: 1_000, bytes: 1024 * 1024 } as const;

interface LinesFile {
  readonly path: string;
  lines: number;
  bytes: number;
}

/** Makes what was written durable. */
interface Flush {
  file(handle: Pick<FileHandle, 'datasync'>): Promise<void>;
  folder(path: string): Promise<void>;
}

const flushToDisk: Flush = { file: (handle) => handle.datasync(), folder: syncFolder };

interface FolderLinesOptions {
  readonly bounds: WaitingBounds;
  readonly flush?: Flush;
  /** Called with the lines that could not be written. */
  readonly onDropped: (lines: number, error: unknown) => void;
}

/**
 * A queue in files of a folder, one entry on each line, which survives kills and power cuts. A file is removed when all its lines are
 * delivered. Lines that were delivered right before a crash are delivered again. Lines that come while a write is flushed share the next
 * flush, so that a slow disk gets larger writes and not more of them.
 */
export class FolderLines implements WaitingLines {
  readonly #folder: string;
  readonly #options: FolderLinesOptions;
  readonly #flush: Flush;
  readonly #full: LinesFile[];
  #number: number;
  #open: { readonly file: LinesFile; readonly handle: FileHandle } | undefined;
  #unwritten: string[] = [];
  #underWay: LinesFile | undefined;
  #count: number;
  #bytes: number;
  #ended = false;
  #wake: () => void = () => undefined;
  /** Operations on files run one after the other. */
  #turn: Promise<void> = Promise.resolve();

  private constructor(folder: string, found: readonly LinesFile[], number: number, options: FolderLinesOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#flush = options.flush ?? flushToDisk;
    this.#full = [...found];
    this.#number = number;
    this.#count = found.reduce((sum, { lines }) => sum + lines, 0);
    this.#bytes = found.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Creates the folder where it is missing, and continues with the files of an earlier process. */
  static async open(folder: string, options: FolderLinesOptions): Promise<FolderLines> {
    await makeDurableFolder(folder);
    const names = (await readdir(folder)).filter((name) => /^\d{12}\.ndjson$/.test(name)).toSorted();
    const found: LinesFile[] = [];
    for (const name of names) {
      const path = join(folder, name);
      const text = await readFile(path, 'utf8');
      found.push({ path, lines: wholeLines(text).length, bytes: text.length });
    }
    return new FolderLines(folder, found, Number(names.at(-1)?.slice(0, 12) ?? 0), options);
  }

  get count(): number {
    return this.#count;
  }

  push(line: string): boolean {
    const { bounds } = this.#options;
    if (this.#ended || this.#count >= bounds.lines || this.#bytes + line.length > bounds.bytes) return false;
    this.#count += 1;
    this.#bytes += line.length + 1;
    this.#unwritten.push(line);
    // The first waiting line starts a write of all of them.
    if (this.#unwritten.length === 1) void this.#limited(() => this.#write());
    return true;
  }

  async next(): Promise<readonly string[] | undefined> {
    for (;;) {
      await this.#limited(() => this.#full.length === 0 && this.#close());
      const file = this.#full.shift();
      if (file !== undefined) {
        this.#underWay = file;
        return wholeLines(await readFile(file.path, 'utf8'));
      }
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async done(): Promise<void> {
    const file = this.#underWay;
    if (file === undefined) return;
    await rm(file.path, { force: true });
    this.#underWay = undefined;
    this.#count -= file.lines;
    this.#bytes -= file.bytes;
  }

  async setAside(lines: readonly string[]): Promise<string | undefined> {
    const path = join(this.#folder, asideName);
    let isKept = false;
    await this.#limited(async () => {
      const handle = await open(path, 'a', 0o600);
      try {
        const text = lines.map((line) => `${line}\n`).join('');
        const { size } = await handle.stat();
        if (size + text.length > this.#options.bounds.bytes) return;
        await handle.appendFile(text);
        await this.#flush.file(handle);
        if (size === 0) await this.#flush.folder(this.#folder);
        isKept = true;
      } finally {
        await handle.close();
      }
    });
    return isKept ? path : undefined;
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#limited(() => this.#close());
    this.#wake();
  }

  async #limited(work: () => unknown): Promise<void> {
    const mine = this.#turn.then(work).then(() => undefined);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  async #write(): Promise<void> {
    const lines = this.#unwritten;
    this.#unwritten = [];
    const text = lines.map((line) => `${line}\n`).join('');
    try {
      this.#open ??= await this.#begin();
      await this.#open.handle.appendFile(text);
      await this.#flush.file(this.#open.handle);
    } catch (error) {
      // The file may end with an incomplete line now.
      await this.#close();
      this.#count -= lines.length;
      this.#bytes -= text.length;
      this.#options.onDropped(lines.length, error);
      return;
    }
    const { file } = this.#open;
    file.lines += lines.length;
    file.bytes += text.length;
    if (file.lines >= fullFile.lines || file.bytes >= fullFile.bytes) await this.#close();
    this.#wake();
  }

  async #begin() {
    this.#number += 1;
    const path = join(this.#folder, `${String(this.#number).padStart(12, '0')}.ndjson`);
    const handle = await open(path, 'ax', 0o600);
    try {
      await this.#flush.folder(this.#folder);
    } catch (error) {
      await handle.close();
      await rm(path, { force: true });
      throw error;
    }
    return { file: { path, lines: 0, bytes: 0 }, handle };
  }

  /** A file that was written to can be read. */
  async #close(): Promise<void> {
    const current = this.#open;
    if (current === undefined) return;
    this.#open = undefined;
    await current.handle.close();
    if (current.file.lines > 0) this.#full.push(current.file);
    else await rm(current.file.path, { force: true });
  }
}

/** The process ended while it wrote a line without an end. */
function wholeLines(text: string): string[] {
  return text.split('\n').slice(0, -1);
}
