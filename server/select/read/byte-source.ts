/** The plaintext bytes of an object. */
export interface ByteSource {
  /** Bytes. */
  readonly size: number;
  /** Reads from `start` inclusive to `end` exclusive. A source has one reading at a time: the next ends the one before. */
  open(start: number, end: number): AsyncIterable<Buffer>;
}

/** Reads a range into memory. The caller limits its size. */
export async function readRange(source: ByteSource, start: number, end: number): Promise<Buffer<ArrayBuffer>> {
  const bytes = Buffer.alloc(end - start);
  let size = 0;
  for await (const chunk of source.open(start, end)) {
    chunk.copy(bytes, size);
    size += chunk.length;
  }
  if (size !== bytes.length) throw new Error(`a range of ${bytes.length} bytes has ${size}`);
  return bytes;
}
