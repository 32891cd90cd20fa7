/** Cuts a stream of bytes into lines, wherever its chunks begin and end: in the middle of a line, or of a character. */
export class LineSplitter {
  readonly #decoder = new TextDecoder();
  #pieces: string[] = [];

  /** The lines that this chunk completes, without empty ones. */
  push(chunk: Uint8Array): string[] {
    const parts = this.#decoder.decode(chunk, { stream: true }).split('\n');
    const last = parts.pop() ?? '';
    const lines: string[] = [];
    for (const part of parts) {
      lines.push(this.#pieces.join('') + part);
      this.#pieces = [];
    }
    if (last !== '') this.#pieces.push(last);
    return lines.filter((line) => line.trim() !== '');
  }

  /** What came after the last line break. */
  rest(): string {
    return (this.#pieces.join('') + this.#decoder.decode()).trim();
  }
}
