import { S3Error } from '../s3/s3-error.ts';

/** Pulls lines and runs of bytes out of a stream of buffers. Nothing is joined but a line that spans buffers. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #buffer: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** At most `limit` bytes, as they come; undefined at the end of the stream. */
  async some(limit: number): Promise<Buffer | undefined> {
    if (!(await this.#fill())) return undefined;
    const bytes = this.#buffer.subarray(this.#at, this.#at + limit);
    this.#at += bytes.length;
    return bytes;
  }

  /**
   * A line without its `\n` or `\r\n`, one character per byte; undefined at the end of the stream. `limit` counts the `\r`; a longer line
   * throws what `tooLong` makes.
   */
  async line(limit: number, tooLong: () => S3Error = lineTooLong): Promise<string | undefined> {
    let line = '';
    while (await this.#fill()) {
      const end = this.#buffer.indexOf(0x0a, this.#at);
      const stop = end < 0 ? this.#buffer.length : end;
      if (line.length + stop - this.#at > limit) {
        throw tooLong();
      }
      line += this.#buffer.toString('latin1', this.#at, stop);
      this.#at = stop + 1;
      if (end >= 0) return line.endsWith('\r') ? line.slice(0, -1) : line;
    }
    return line === '' ? undefined : line;
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #fill(): Promise<boolean> {
    while (this.#at >= this.#buffer.length) {
      const next = await this.#source.next();
      if (next.done === true) return false;
      this.#buffer = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
      this.#at = 0;
    }
    return true;
  }
}

function lineTooLong(): S3Error {
  return new S3Error('IncompleteBody', 'The aws-chunked framing of the body is broken: a line of it is too long.');
}
