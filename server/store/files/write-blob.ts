import type { Piece } from '../blob-store.ts';
import type { NewFile } from './file-system.ts';

/** Chunks are gathered into writes of so many bytes; one is on its way while the next is gathered. */
const WRITE_BYTES = 1024 * 1024;
/** A client may send single bytes: so many pieces are written at once however small, or their buffers would outweigh them. */
const WRITE_PIECES = 1024;

/** Writes a body of chunks of any size; resolves to its length. */
export async function gatherInto(file: NewFile, body: AsyncIterable<Buffer>): Promise<number> {
  let size = 0;
  let chunks: Buffer[] = [];
  let gathered = 0;
  let writing: Promise<void> = Promise.resolve();
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      gathered += chunk.length;
      size += chunk.length;
      if (gathered < WRITE_BYTES && chunks.length < WRITE_PIECES) continue;
      await writing;
      writing = file.write(chunks);
      // Looked at when the next one is due; until then nobody may take it for unhandled.
      writing.catch(() => undefined);
      chunks = [];
      gathered = 0;
    }
  } finally {
    // Before the file is closed, also when the body failed.
    await writing;
  }
  await file.write(chunks);
  return size;
}

/** Writes each piece as it comes, while the next ones come: there are no more than whoever fills them has. */
export async function writeEach(file: NewFile, pieces: AsyncIterable<Piece>): Promise<number> {
  let size = 0;
  const writing = new Set<Promise<void>>();
  let failed: { readonly error: unknown } | undefined;
  const write = async (piece: Piece, position: number) => {
    try {
      await file.writeAt(piece.bytes, position);
    } catch (error) {
      failed ??= { error };
    } finally {
      piece.release();
    }
  };
  try {
    for await (const piece of pieces) {
      const one = write(piece, size);
      size += piece.bytes.length;
      writing.add(one);
      void one.then(() => writing.delete(one));
      if (failed !== undefined) break;
    }
  } finally {
    // Before the file is closed and the pieces are filled again, also when the body failed.
    await Promise.all(writing);
  }
  if (failed !== undefined) throw failed.error;
  return size;
}
