import { keptChunks } from '../../streams/chunks.ts';
import { type BlobId, type BlobStore } from '../../store/blob-store.ts';
import { isStoreError, StoreError } from '../../store/store-error.ts';
import { storedCheck } from '../../objects/records/stored-check.ts';
import { checkBlob, type Damage, storedSize, type StoredStream } from '../verify/check-stream.ts';

export interface BlobCopy {
  readonly from: BlobStore;
  readonly to: BlobStore;
  readonly signal: AbortSignal | undefined;
  /** Receives the count of bytes that were read. */
  readonly passed: (bytes: number) => void;
}

/**
 * Copies a blob unchanged and compares its checksum on the way. A blob of an interrupted copy is kept where it is whole, and replaced
 * otherwise. Resolves to the damage at the source. Damaged bytes are copied too: some of them may be usable.
 */
export async function copyBlob(copy: BlobCopy, blob: BlobId, stream: StoredStream): Promise<Damage | undefined> {
  const attempt = () => copyOnce(copy, blob, stream);
  try {
    return await attempt();
  } catch {
    copy.signal?.throwIfAborted();
    // The blob exists, whole or in part: only an earlier copy writes here.
    const found = await checkBlob(copy.to, blob, stream, () => undefined);
    if (found === undefined) return undefined;
    try {
      await copy.to.remove(blob);
      return await attempt();
    } catch (again) {
      const message = `blob ${blob} cannot be copied: ${messageOf(again)}`;
      if (again instanceof StoreError) throw new StoreError(again.code, message, { cause: again, store: again.store });
      throw new Error(message, { cause: again });
    }
  }
}

async function copyOnce(
  { from, to, signal, passed }: BlobCopy,
  blob: BlobId,
  stream: StoredStream,
): Promise<Damage | undefined> {
  const size = storedSize(stream);
  const check = storedCheck(stream.protection);
  let atSource: unknown;
  async function* bytes(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of keptChunks(from.read(blob, { start: 0, end: size }))) {
        signal?.throwIfAborted();
        check?.update(chunk);
        passed(chunk.length);
        yield chunk;
      }
    } catch (error) {
      atSource = error;
      throw error;
    }
  }
  try {
    await to.write(blob, bytes());
  } catch (error) {
    if (isStoreError(atSource, 'blob-missing')) return { kind: 'missing', message: 'is missing' };
    if (isStoreError(atSource, 'blob-truncated'))
      return { kind: 'damaged', message: 'is shorter than what was written' };
    throw error;
  }
  return check?.holds() === false ? { kind: 'damaged', message: 'does not have its checksum' } : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
