import type { InventoryConfiguration } from '../../../protocol/s3/bucket-inventory.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { decodeKey, within } from '../../store/keys.ts';
import type { RecordStore } from '../../store/record-store.ts';
import type { ObjectContext } from '../context/context.ts';
import { commitChange } from '../commit/commit-change.ts';
import { checkOwnRecord } from './setting-condition.ts';
import { findBucket, getBucket, guardBucket } from '../records/bucket-record.ts';
import { decodeRecord, encodeRecord, recordKeys } from '../records/record-format.ts';

/** The maximum of configurations of a bucket. */
const MAX_CONFIGURATIONS = 1_000;

/** Returns the configurations of a bucket, ordered by their ID. Throws `NoSuchBucket`. */
export async function getBucketInventories(
  context: ObjectContext,
  bucket: string,
): Promise<readonly InventoryConfiguration[]> {
  await getBucket(context.records, bucket);
  return (await readInventories(context, bucket)).configurations;
}

/** Adds a configuration, or replaces that of its ID. Throws `InvalidS3DestinationBucket`, `TooManyConfigurations` and `KMSNotFound`. */
export async function putBucketInventory(
  context: ObjectContext,
  bucket: string,
  configuration: InventoryConfiguration,
): Promise<void> {
  const { destination } = configuration;
  if ((await findBucket(context.records, destination.bucket)) === undefined) {
    throw new S3Error('InvalidS3DestinationBucket', 'The destination bucket does not exist.', {
      details: { DestinationBucket: destination.bucket },
    });
  }
  if (destination.encryption !== undefined) {
    const { keys } = context;
    await keys.checkKey(destination.encryption.scheme === 'SSE-KMS' ? destination.encryption.keyName : keys.defaultKey);
  }
  await changeInventories(context, bucket, configuration.id, (configurations) => {
    const others = configurations.filter(({ id }) => id !== configuration.id);
    if (others.length >= MAX_CONFIGURATIONS) throw new S3Error('TooManyConfigurations');
    return [...others, configuration].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  });
}

/** Throws `NoSuchConfiguration`. */
export function deleteBucketInventory(context: ObjectContext, bucket: string, id: string): Promise<void> {
  return changeInventories(context, bucket, id, (configurations) => {
    const others = configurations.filter((one) => one.id !== id);
    if (others.length === configurations.length) throw new S3Error('NoSuchConfiguration');
    return others;
  });
}

function changeInventories(
  context: ObjectContext,
  bucket: string,
  id: string,
  change: (configurations: readonly InventoryConfiguration[]) => readonly InventoryConfiguration[],
): Promise<void> {
  return commitChange(context, async () => {
    const guard = guardBucket(bucket, await getBucket(context.records, bucket));
    const key = recordKeys.inventory(bucket);
    const { configurations, revision } = await readInventories(context, bucket);
    checkOwnRecord(context, bucket, () => configurations.find((one) => one.id === id));
    const changed = change(configurations);
    const expect = [
      ...guard.expect,
      revision === undefined ? { kind: 'absent' as const, key } : { kind: 'revision' as const, key, revision },
    ];
    const batch =
      changed.length === 0
        ? { expect, put: guard.put, delete: [key] }
        : { expect, put: [...guard.put, { key, value: encodeRecord(changed) }] };
    return { batch, result: undefined };
  });
}

async function readInventories({ records }: ObjectContext, bucket: string) {
  const entry = await records.get(recordKeys.inventory(bucket));
  return { configurations: entry === undefined ? [] : decode(entry.value, bucket), revision: entry?.revision };
}

function decode(value: Buffer, bucket: string): readonly InventoryConfiguration[] {
  return decodeRecord(value, `inventories of ${bucket}`) as readonly InventoryConfiguration[];
}

/** Reads the configurations of all buckets that have some. */
export async function readAllInventories(
  records: Pick<RecordStore, 'scan'>,
): Promise<ReadonlyMap<string, readonly InventoryConfiguration[]>> {
  const found = new Map<string, readonly InventoryConfiguration[]>();
  for await (const item of records.scan(within('inventory'))) {
    if (item.kind !== 'entry') continue;
    const bucket = String(decodeKey(item.key)[1]);
    found.set(bucket, decode(item.value, bucket));
  }
  return found;
}
