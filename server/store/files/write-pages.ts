import { PAGE as WASM_PAGE, WebAssembly } from '../../../platform/checksums/wasm-assembly.ts';
import type { NewFile } from './file-system.ts';

/** Direct writes begin and end at multiples of this, in memory and in the file. */
export const PAGE = 4096;
/** A write has at most this many bytes. */
const BUFFER_BYTES = 256 * 1024;
/** The number of buffers of a thread, which limits its concurrent writes. */
const BUFFERS = 8;
/** The number of chunks that are joined. A client may send single bytes, whose buffers take more memory than the bytes. */
const MAX_CHUNKS = 1024;

/** Memory of a thread that begins at page boundaries. A buffer is taken only for bytes that are there, so that no slow body holds one. */
export class PageBuffers {
  #free: Buffer[] | undefined;
  readonly #waiting: ((buffer: Buffer) => void)[] = [];

  async take(): Promise<Buffer> {
    this.#free ??= makeBuffers();
    return this.#free.pop() ?? new Promise((resolve) => this.#waiting.push(resolve));
  }

  give(buffer: Buffer): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free?.push(buffer);
    else next(buffer);
  }
}

/** The memory of WebAssembly begins at a page boundary. That of a Buffer need not. */
function makeBuffers(): Buffer[] {
  const pages = (BUFFERS * BUFFER_BYTES) / WASM_PAGE;
  const { buffer } = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  return Array.from({ length: BUFFERS }, (_, at) => Buffer.from(buffer, at * BUFFER_BYTES, BUFFER_BYTES));
}

/**
 * Copies a body with chunks of any size into buffers of whole pages, and writes each while the next one fills; the last page is filled up with zeros.
 * Releases each chunk when it is copied. Returns the length of the body.
 */
export async function writePages(
  file: Pick<NewFile, 'writeAt'>,
  body: AsyncIterable<Buffer>,
  release: (chunk: Buffer) => void,
  buffers: PageBuffers,
): Promise<number> {
  const gathered = new GatheredChunks(release);
  const writing = new Set<Promise<void>>();
  let failed: { readonly error: unknown } | undefined;
  let position = 0;
  const write = async (bytes: number) => {
    if (failed !== undefined) throw failed.error;
    const buffer = await buffers.take();
    const at = position;
    position += bytes;
    gathered.moveTo(buffer, bytes);
    const end = Math.ceil(bytes / PAGE) * PAGE;
    buffer.fill(0, bytes, end);
    const one = file
      .writeAt(buffer.subarray(0, end), at)
      .catch((error: unknown) => {
        failed ??= { error };
      })
      .finally(() => {
        buffers.give(buffer);
        writing.delete(one);
      });
    writing.add(one);
  };
  try {
    for await (const chunk of body) {
      gathered.add(chunk);
      while (gathered.bytes >= BUFFER_BYTES) await write(BUFFER_BYTES);
    }
    if (gathered.bytes > 0) await write(gathered.bytes);
  } finally {
    gathered.releaseAll();
    // The writes end before the file is closed, also if the body failed.
    await Promise.all(writing);
  }
  if (failed !== undefined) throw failed.error;
  return position;
}

/** Chunks that came and are not copied yet. */
class GatheredChunks {
  bytes = 0;
  readonly #release: (chunk: Buffer) => void;
  #chunks: { readonly chunk: Buffer; readonly isOwn: boolean }[] = [];
  /** The bytes of the first chunk that are copied. */
  #copied = 0;
  /** The number of the last chunks that are not joined. */
  #single = 0;

  constructor(release: (chunk: Buffer) => void) {
    this.#release = release;
  }

  add(chunk: Buffer): void {
    this.#chunks.push({ chunk, isOwn: false });
    this.bytes += chunk.length;
    this.#single += 1;
    if (this.#single === MAX_CHUNKS) this.#join();
  }

  #join(): void {
    const last = this.#chunks.splice(-this.#single).map(({ chunk }) => chunk);
    const copied = this.#chunks.length === 0 ? this.#copied : 0;
    this.#chunks.push({ chunk: Buffer.concat(last).subarray(copied), isOwn: true });
    this.#copied -= copied;
    this.#single = 0;
    for (const chunk of last) this.#release(chunk);
  }

  /** Copies this many bytes to the begin of a buffer. */
  moveTo(buffer: Buffer, bytes: number): void {
    for (let at = 0; at < bytes;) {
      const first = this.#chunks[0];
      if (first === undefined) return;
      const until = Math.min(first.chunk.length, this.#copied + bytes - at);
      at += first.chunk.copy(buffer, at, this.#copied, until);
      this.#copied = until;
      if (until < first.chunk.length) break;
      this.#next();
    }
    this.bytes -= bytes;
  }

  releaseAll(): void {
    while (this.#chunks.length > 0) this.#next();
    this.bytes = 0;
  }

  #next(): void {
    const first = this.#chunks.shift();
    this.#copied = 0;
    this.#single = Math.min(this.#single, this.#chunks.length);
    if (first?.isOwn === false) this.#release(first.chunk);
  }
}
