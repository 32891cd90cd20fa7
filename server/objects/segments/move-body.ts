import { keptChunks } from '../../streams/chunks.ts';
import { cipherSize } from '../../encryption/package-format.ts';
import type { BlobId } from '../../store/blob-store.ts';
import { placeOf } from '../../store/packed-id.ts';
import type { ObjectContext } from '../context/context.ts';
import type { BlobOwner } from '../contract/objects.ts';
import { commitChange } from '../commit/commit-change.ts';
import { encodeObject } from '../records/object-record.ts';
import { storedCheck } from '../records/stored-check.ts';
import { isStoreError, StoreError } from '../../store/store-error.ts';
import { claimBlob, discardBlob, queueRemoval } from '../records/blob-claims.ts';
import { objectRecordKey } from '../records/version-place.ts';
import { findVersion, NULL_VERSION } from '../versions/find-version.ts';

/**
 * Moves a body to a segment, byte by byte as it is. It is in another segment, or a file of its own. Returns false where its object has
 * another body by now, or is gone. Throws `StoreError` for a body without its checksum, which stays where it is.
 */
export async function moveBody(context: ObjectContext, blob: BlobId, owner: BlobOwner): Promise<boolean> {
  const { segments } = context.blobs;
  const before = await findBody(context, blob, owner);
  if (segments === undefined || before === undefined) return false;
  const { size, sealed } = before.stored.record;
  const length = placeOf(blob)?.length ?? (sealed === undefined ? size : cipherSize(size));
  const check = storedCheck(before.body);
  async function* bytes(): AsyncGenerator<Buffer> {
    for await (const chunk of keptChunks(context.blobs.read(blob, { start: 0, end: length, size: length }))) {
      check?.update(chunk);
      yield chunk;
    }
  }
  const { id } = await segments.write(bytes(), { length });
  try {
    if (check?.holds() === false) {
      throw new StoreError('damaged-body', `blob ${blob} does not have its checksum: it is not moved`);
    }
    const moved = await commitMove(context, { blob, owner, id });
    if (!moved) await discardBlob(context, id);
    return moved;
  } catch (error) {
    if (!isStoreError(error, 'outcome-unknown')) await discardBlob(context, id);
    throw error;
  }
}

/** `id` is the new place of the body. */
function commitMove(
  context: ObjectContext,
  { blob, owner, id }: { readonly blob: BlobId; readonly owner: BlobOwner; readonly id: BlobId },
): Promise<boolean> {
  return commitChange(context, async () => {
    const found = await findBody(context, blob, owner);
    if (found === undefined) return { result: false };
    const { stored, order, body } = found;
    const recordKey = objectRecordKey({ bucket: owner.bucket, key: owner.key, order });
    const claimed = await claimBlob(context, { blob: id }, owner);
    const removal = queueRemoval([blob], context.clock());
    const value = encodeObject({ ...stored.record, body: { ...body, blob: id } });
    return {
      batch: {
        expect: [{ kind: 'revision', key: recordKey, revision: stored.revision }, ...claimed.expect],
        put: [{ key: recordKey, value }, ...claimed.put, ...removal.put],
        delete: removal.delete,
        freesSpace: true,
      },
      result: true,
    };
  });
}

/** Returns the version that has this body. */
async function findBody(context: ObjectContext, blob: BlobId, { object, bucket, key, versionId }: BlobOwner) {
  const found = await findVersion(context, bucket, key, versionId ?? NULL_VERSION);
  if (found === undefined || found.stored.record.id !== object) return undefined;
  const { body } = found.stored.record;
  return body.kind === 'blob' && body.blob === blob ? { ...found, body } : undefined;
}
