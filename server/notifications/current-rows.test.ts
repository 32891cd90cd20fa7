import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { NotificationRule } from '../../protocol/s3/bucket-notification.ts';
import { put, testLayer } from '../../test/support/objects/test-layer.ts';
import { decodeEvent, outboxKeys } from '../objects/events/outbox.ts';
import type { ObjectLayer } from '../objects/contract/object-layer.ts';
import type { Entry, RecordStore } from '../store/record-store.ts';
import { eventMessage } from './event-message.ts';
import { rowAfter } from './target.ts';

const target = '_:webhook';
const rule: NotificationRule = {
  id: 'all',
  arn: 'arn:minio:sqs::_:webhook',
  target,
  events: ['Created', 'Removed', 'Tagging'].map((what) => `s3:Object${what}:*`),
};
const source = { region: '', endpoint: '', deploymentId: '' };
const place = { bucket: 'bucket', key: 'key' } as const;

/** A version is named by its number among those that there are. */
type Step = readonly ['put' | 'delete'] | readonly ['remove' | 'tag', number];
const version = fc.nat({ max: 9 });
const step = fc.oneof<fc.Arbitrary<Step>[]>(
  fc.constant(['put'] as const),
  fc.constant(['delete'] as const),
  fc.tuple(fc.constantFrom('remove' as const, 'tag' as const), version),
);

async function versionsOf(layer: ObjectLayer) {
  const listing = { bucket: place.bucket, prefix: '', delimiter: '', keyMarker: '', limit: 100 };
  return (await layer.listObjectVersions({ ...listing, versionIdMarker: undefined })).versions;
}

async function run(layer: ObjectLayer, [kind, at = 0]: Step, size: number): Promise<void> {
  if (kind === 'put') await layer.putObject(put(place.bucket, place.key, 'a'.repeat(size)));
  else if (kind === 'delete') await layer.deleteObject(place.bucket, place.key);
  else {
    const versions = await versionsOf(layer);
    const found = versions[at % Math.max(1, versions.length)];
    if (found === undefined) return;
    const { versionId } = found;
    if (kind === 'remove') await layer.deleteObject(place.bucket, place.key, { versionId });
    else if (!found.deleteMarker) await layer.putObjectTags(place.bucket, place.key, { a: 'b' }, versionId);
  }
}

/** What a target with the last events has after all events, in the order in which they are delivered. */
async function rowOf(records: RecordStore): Promise<object | undefined> {
  const entries: Entry[] = [];
  for await (const item of records.scan(outboxKeys.ofObject(target, place)))
    if (item.kind === 'entry') entries.push(item);
  let row: object | undefined;
  for (const entry of entries.toSorted((one, other) => one.revision - other.revision)) {
    const message = eventMessage(decodeEvent(entry), source, { sequencer: '', etag: undefined });
    const after = rowAfter(message);
    if (after !== 'unchanged') row = after === 'removed' ? undefined : after;
  }
  return row;
}

it.each(['versions', 'plain'])(
  'the row of an object is that of its current version, in a bucket with %s',
  async (kind) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { layer, records } = testLayer();
        await layer.createBucket(place.bucket, { location: '' });
        if (kind === 'versions') await layer.putBucketVersioning(place.bucket, { status: 'Enabled' });
        await layer.putBucketNotification(place.bucket, [rule], { test: false });
        for (const [index, one] of steps.entries()) {
          await run(layer, one, index);
          const row = await rowOf(records);
          const current = (await versionsOf(layer)).find(({ isLatest }) => isLatest);
          if (current === undefined) expect(row).toBeUndefined();
          // As in MinIO, the event of a delete marker stays.
          else if (current.deleteMarker) expect(JSON.stringify(row ?? 'DeleteMarker')).toContain('DeleteMarker');
          else {
            const { versionId, size } = current;
            const object = { size, ...(kind === 'versions' && { versionId }) };
            expect(row).toMatchObject({ s3: { object } });
          }
        }
      }),
      { numRuns: 150 },
    );
  },
);
