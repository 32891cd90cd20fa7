import type { ObjectContext } from '../context/context.ts';
import type { BatchChanges } from '../records/blob-claims.ts';
import type { Batch } from '../../store/record-store.ts';
import { noChanges, moveObject } from './move-object.ts';
import { recordKeys, versionOrder, lastPartOf } from '../records/record-format.ts';
import { encodeObject, type ObjectRecord, storedObject } from '../records/object-record.ts';
import { orderOf } from '../records/version-place.ts';
import { after, within, prefixOf } from '../../store/keys.ts';

/**
 * Returns the changes that make the newest noncurrent version of a key current, in the commit that removes the current one. An object is
 * counted: a pass over all versions that has read the current ones, and not yet the noncurrent ones, would miss it. `promoted` is its record, and
 * absent for a delete marker.
 */
export async function promoteNewest(
  context: ObjectContext,
  bucket: string,
  key: string,
): Promise<BatchChanges & Pick<Batch, 'add'> & { readonly promoted?: ObjectRecord }> {
  const found = await newestNoncurrent(context, bucket, key);
  if (found === undefined) return noChanges;
  const { order, stored } = found;
  if (stored.record.deleteMarker !== true) {
    const moved = await moveObject(context, { bucket, key, order }, { bucket, key }, stored, undefined);
    return { ...moved, add: [{ key: recordKeys.promotions(bucket), delta: 1n }], promoted: stored.record };
  }
  const versionKey = recordKeys.version(bucket, key, order);
  return {
    expect: [{ kind: 'revision', key: versionKey, revision: stored.revision }],
    put: [{ key: recordKeys.marker(bucket, key), value: encodeObject(stored.record) }],
    delete: [versionKey],
  };
}

/** The null version has the first key of all: it is compared by its order. */
async function newestNoncurrent(context: ObjectContext, bucket: string, key: string) {
  const nullOrder = versionOrder(undefined);
  const nullKey = recordKeys.version(bucket, key, nullOrder);
  const nullVersion = storedObject(await context.records.get(nullKey), bucket, key);
  const range = { start: after(nullKey), end: within('v', bucket, key).end, limit: 1 };
  for await (const item of context.records.scan(range)) {
    if (item.kind !== 'entry') continue;
    const stored = storedObject(item, bucket, key);
    const order = lastPartOf(item.key, prefixOf('v', bucket, key).length);
    if (stored !== undefined && (nullVersion === undefined || orderOf(nullVersion.record) <= orderOf(stored.record))) {
      return { order, stored };
    }
  }
  return nullVersion && { order: nullOrder, stored: nullVersion };
}
