import { eachChunk } from '../../streams/chunks.ts';
import { recordKeys } from '../../objects/records/record-format.ts';
import { type BlobId, type BlobStore } from '../../store/blob-store.ts';
import { isStoreError } from '../../store/store-error.ts';
import type { VerifyContext } from './check-object.ts';
import type { Issue } from './issue.ts';

/** The count of blobs in one read of their records. */
const PAGE = 256;
/** The maximum of ids in memory before the blobs are listed once more. */
const MAX_UNREADABLE = 10_000;

/** Yields blobs that are older than `graceMs`, have no owner, and are not in the removal queue. Calls `seen` for every blob. */
export async function* orphanBlobs(check: VerifyContext, graceMs: number, seen: () => void): AsyncGenerator<Issue> {
  // Blobs that are neither readable nor known: removed since they were listed, or half-written.
  const unreadable = new Set<BlobId>();
  let page: BlobId[] = [];
  for await (const { id, ageMs } of check.blobs.list()) {
    check.signal?.throwIfAborted();
    seen();
    if (ageMs >= graceMs) page.push(id);
    if (page.length < PAGE) continue;
    yield* orphansAmong(check, page, unreadable);
    page = [];
    if (unreadable.size >= MAX_UNREADABLE) yield* halfWritten(check, unreadable);
  }
  yield* orphansAmong(check, page, unreadable);
  if (unreadable.size > 0) yield* halfWritten(check, unreadable);
}

async function* orphansAmong(
  check: VerifyContext,
  ids: readonly BlobId[],
  unreadable: Set<BlobId>,
): AsyncGenerator<Issue> {
  for (const blob of await unknownAmong(check, ids)) {
    if (await isReadable(check.blobs, blob)) yield orphan(blob);
    else unreadable.add(blob);
  }
}

async function unknownAmong({ records }: VerifyContext, ids: readonly BlobId[]): Promise<readonly BlobId[]> {
  if (ids.length === 0) return [];
  const kinds = [recordKeys.owner, recordKeys.removal, recordKeys.tombstone];
  const known = await records.getAll(ids.flatMap((id) => kinds.map((keyOf) => keyOf(id))));
  return ids.filter((_, index) =>
    known.slice(index * kinds.length, (index + 1) * kinds.length).every((entry) => entry === undefined),
  );
}

/** Returns false for a blob that is missing or half-written. */
export async function isReadable(blobs: BlobStore, blob: BlobId): Promise<boolean> {
  try {
    for await (const _chunk of eachChunk(blobs.read(blob, { start: 0, end: 1 })));
    return true;
  } catch (error) {
    if (isStoreError(error, 'blob-missing')) return false;
    if (isStoreError(error, 'blob-truncated')) return true;
    throw error;
  }
}

/** Yields those that are still listed. */
async function* halfWritten({ blobs }: VerifyContext, unreadable: Set<BlobId>): AsyncGenerator<Issue> {
  for await (const { id } of blobs.list()) if (unreadable.delete(id)) yield orphan(id);
  unreadable.clear();
}

function orphan(blob: BlobId): Issue {
  return { kind: 'orphan-blob', blob, message: `blob ${blob} has no owner, and is not queued for removal` };
}
