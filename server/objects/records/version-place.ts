import type { Key } from '../../store/record-store.ts';
import { decodeKey } from '../../store/keys.ts';
import type { ObjectRecord } from './object-record.ts';
import { orderOfPart, recordKeys, type VersionOrder, versionOrder } from './record-format.ts';
import { type Order, orderAt } from './version-order.ts';

/** The place of the records of a version. `order` is absent for the current version. */
export interface VersionPlace {
  readonly bucket: string;
  readonly key: string;
  readonly order?: VersionOrder | undefined;
}

/** Returns the key of the record of an object at a place. */
export function objectRecordKey({ bucket, key, order }: VersionPlace): Key {
  return order === undefined ? recordKeys.object(bucket, key) : recordKeys.version(bucket, key, order);
}

/** The fields of a record that say which version it is, and where it stands among those of its key. */
export type VersionFields = Pick<ObjectRecord, 'modified' | 'versionId' | 'order'>;

/** Returns the order of a version. That of a null version made here is the first one of its millisecond. */
export function orderOf({ order, versionId, modified }: VersionFields): Order {
  return order ?? versionId ?? orderAt(modified);
}

/** Returns the last part of the keys of a version while it is noncurrent. */
export function partOf(version: VersionFields): VersionOrder {
  return versionOrder(version.versionId === undefined ? undefined : orderOf(version));
}

/** Returns the order of a key under `v`; undefined for the null version. */
export function orderOfKey(recordKey: Key): Order | undefined {
  return orderOfPart(decodeKey(recordKey)[3] ?? Buffer.alloc(0));
}

/** Returns the key of the index record of a version; undefined where its id is its order, and for the null version. */
export function indexKeyOf(
  bucket: string,
  key: string,
  { versionId, order }: Pick<VersionFields, 'versionId' | 'order'>,
): Key | undefined {
  return versionId === undefined || order === undefined ? undefined : recordKeys.versionIndex(bucket, key, versionId);
}
