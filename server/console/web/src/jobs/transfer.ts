import { copyObject, deleteObject, listBelow, renameObject } from '../api/copies.ts';
import type { JobContext } from './jobs.ts';
import { objectsOf, targetKey, type Selection } from './selection.ts';

export interface Transfer {
  readonly bucket: string;
  readonly selection: Selection;
  readonly target: { readonly bucket: string; readonly prefix: string };
  /** The new name of the one entry; undefined keeps the names. */
  readonly rename?: string | undefined;
  readonly move: boolean;
  readonly replace: boolean;
}

/** Requests at the same time. The server copies; the page only asks. */
const breadth = 5;

/** Copies or moves objects and folders on the server. What fails stays where it is, and is reported. */
export async function runTransfer(transfer: Transfer, context: JobContext): Promise<void> {
  const { bucket, selection, target, rename, move, replace } = transfer;
  const { signal } = context;
  const found = await objectsOf(selection, (prefix) => listBelow(bucket, prefix, signal), context);
  // In a bucket that has or had versions the server renames nothing.
  let renames = move && target.bucket === bucket;
  await inParallel(found, signal, async ({ key, size, base }) => {
    const to = { bucket: target.bucket, key: targetKey({ key, base, prefix: target.prefix, rename }) };
    try {
      const renamed = renames && (await renameObject({ bucket, key }, to.key, { replace, signal }));
      if (!renamed) {
        renames = false;
        await copyObject({ bucket, key }, to, { size, replace, signal });
        if (move) await deleteObject({ bucket, key }, signal);
      }
      context.done();
    } catch (error) {
      if (!signal.aborted) context.failed(key, error instanceof Error ? error : new Error('It failed.'));
    }
  });
}

async function inParallel<Item>(
  items: readonly Item[],
  signal: AbortSignal,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < items.length && !signal.aborted) {
      const item = items[next++];
      if (item !== undefined) await work(item);
    }
  };
  await Promise.all(Array.from({ length: breadth }, worker));
}
