import type { EventCaller, EventOrigin } from './event-caller.ts';
import type { BucketRecord } from '../records/bucket-record.ts';
import type { ObjectRecord } from '../records/object-record.ts';
import type { StoredEtag } from '../records/stored-digests.ts';
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
  readonly origin?: EventOrigin | undefined;
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

/** The listeners of this thread, and the queues that take no more events. Most servers have neither. */
export interface EventHub {
  /** True while a client of this server listens. */
  readonly isHeard: boolean;
  /** Reports a committed event to the listeners. */
  hear(event: ObjectEvent): void;
  /** Reports whether the queue of a target is full. The answer may be a second old. */
  isFull(target: string): boolean;
  /** Counts an event that a full queue did not take. */
  countDropped(target: string): void;
}

export const noEventHub: EventHub = {
  isHeard: false,
  hear: () => undefined,
  isFull: () => false,
  countDropped: () => undefined,
};

interface Happened {
  readonly names: readonly string[];
  readonly bucket: string;
  readonly key: string;
  /** The record of the bucket. */
  readonly stored: BucketRecord;
  /** The version ID that clients see. */
  readonly versionId?: string | undefined;
  readonly record?: ObjectRecord | undefined;
  readonly by?: EventCaller | undefined;
}

export function ruledEvent(
  { clock }: { readonly clock: () => number },
  { names, bucket, key, stored, versionId, record, by }: Happened,
): RuledEvent {
  return {
    names,
    time: clock(),
    bucket,
    key,
    versionId: stored.versioning === undefined ? undefined : versionId,
    object: record && {
      id: record.id,
      size: record.size,
      etag: record.etag,
      contentType: record.headers.contentType,
      metadata: record.headers.metadata,
    },
    origin: by?.eventOrigin?.(),
    rules: stored.notification ?? [],
  };
}
