import type { EventCaller, EventOrigin } from '../contract/event-caller.ts';
import type { BucketRecord } from './bucket-record.ts';
import type { ObjectRecord } from './object-record.ts';
import type { StoredEtag } from './stored-digests.ts';
import type { NotificationRule } from '../../../protocol/s3/bucket-notification.ts';

/** An event of an object or a bucket, as the queues keep it. It has no secrets: an ETag that is sealed in the object's record stays sealed. */
export interface ObjectEvent {
  /** The names that rules may ask for, the most specific first: AWS and MinIO have different names for some events. */
  readonly names: readonly string[];
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly bucket: string;
  /** Empty for an event of the bucket. */
  readonly key: string;
  /** Absent in a bucket that never had versions. */
  readonly versionId?: string | undefined;
  /** The object after the event. Absent for a removal. */
  readonly object?: EventObject | undefined;
  /**
   * Present where the version of the event is not the current one of its key afterwards: `unchanged`, or the version that a removal made current.
   * Absent also where a removal leaves none.
   */
  readonly current?: 'unchanged' | CurrentVersion | undefined;
  readonly origin?: EventOrigin | undefined;
}

interface CurrentVersion {
  readonly versionId: string;
  readonly object: EventObject;
}

interface EventObject {
  readonly id: string;
  /** Plaintext bytes. */
  readonly size: number;
  readonly etag: StoredEtag;
  readonly contentType?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** An event with the rules of its bucket. */
export interface RuledEvent extends ObjectEvent {
  readonly rules: readonly NotificationRule[];
}

interface Happened {
  readonly names: readonly string[];
  readonly bucket: string;
  readonly key: string;
  /** The record of the bucket. */
  readonly stored: BucketRecord;
  /** The version ID that clients see. */
  readonly versionId?: string | undefined;
  readonly record?: ObjectRecord | undefined;
  /** The version is not the current one, or the version that is current now. */
  readonly current?: 'unchanged' | { readonly versionId: string; readonly record: ObjectRecord } | undefined;
  readonly by?: EventCaller | undefined;
}

export function ruledEvent(
  { clock }: { readonly clock: () => number },
  { names, bucket, key, stored, versionId, record, current, by }: Happened,
): RuledEvent {
  return {
    names,
    time: clock(),
    bucket,
    key,
    versionId: stored.versioning === undefined ? undefined : versionId,
    object: record && eventObject(record),
    ...(current !== undefined && {
      current:
        current === 'unchanged' ? current : { versionId: current.versionId, object: eventObject(current.record) },
    }),
    origin: by?.eventOrigin?.(),
    rules: stored.notification ?? [],
  };
}

function eventObject({ id, size, etag, headers }: ObjectRecord): EventObject {
  return { id, size, etag, contentType: headers.contentType, metadata: headers.metadata };
}

/** The field of an event of a version that has this place. The current version of a key has none. */
export function unlessCurrent(order: unknown): { readonly current?: 'unchanged' } {
  return order === undefined ? {} : { current: 'unchanged' };
}
