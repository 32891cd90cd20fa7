import type { BatchChanges } from '../records/blob-claims.ts';
import type { ObjectContext } from '../context/context.ts';
import type { VersionPlace } from '../records/version-place.ts';
import type { StoredObject, Body } from '../records/object-record.ts';
import { objectRecordKey } from '../records/version-place.ts';
import { encodeObject } from '../records/object-record.ts';
import { recordKeys } from '../records/record-format.ts';
import { StoreError } from '../../store/store-error.ts';

export const noChanges: BatchChanges = { expect: [], put: [], delete: [] };

/** Joins changes. What one of them writes, another does not delete: a promoted version takes the place of a removed one. */
export function joined(...changes: readonly BatchChanges[]): BatchChanges {
  const expect = [];
  const put = [];
  const deleted = [];
  // Each write of a version joins some changes, most of them empty.
  for (const change of changes) {
    for (const one of change.expect) expect.push(one);
    for (const one of change.put) put.push(one);
    for (const one of change.delete) deleted.push(one);
  }
  if (deleted.length === 0) return { expect, put, delete: deleted };
  // A set, since an object of 10,000 parts has as many keys in both lists.
  const written = new Set(put.map(({ key }) => key.toString('latin1')));
  return { expect, put, delete: deleted.filter((key) => !written.has(key.toString('latin1'))) };
}

/**
 * Returns the changes that move the records of an object from one place to another: the current version becomes noncurrent, a
 * noncurrent one current, or an object gets another key. `by` is the kind of a new body at the first place, `record` the record at the
 * second one.
 */
export async function moveObject(
  context: ObjectContext,
  from: VersionPlace,
  to: VersionPlace,
  { record, revision }: StoredObject,
  by: Body['kind'] | undefined,
  moved = record,
): Promise<BatchChanges> {
  const recordKey = objectRecordKey(from);
  const put = [{ key: objectRecordKey(to), value: encodeObject(moved) }];
  const removed = by === undefined ? [recordKey] : [];
  const tables = [
    ...(record.body.kind === 'inline' ? [{ of: recordKeys.inline, kept: by === 'inline' }] : []),
    ...(record.body.kind === 'parts' ? [{ of: recordKeys.manifest, kept: by === 'parts' }] : []),
    ...(record.damage === undefined ? [] : [{ of: recordKeys.damage, kept: false }]),
  ];
  for (const table of tables) {
    const source = table.of(from.bucket, from.key, from.order);
    const entry = await context.records.get(source);
    // A damaged version moves without the records that it has lost.
    if (entry === undefined && record.damage !== undefined) continue;
    // Records without this id are of a newer object: the commit would fail.
    if (entry === undefined) throw new StoreError('changed', 'the records changed meanwhile');
    put.push({ key: table.of(to.bucket, to.key, to.order), value: entry.value });
    if (!table.kept) removed.push(source);
  }
  return { expect: [{ kind: 'revision', key: recordKey, revision }], put, delete: removed };
}
