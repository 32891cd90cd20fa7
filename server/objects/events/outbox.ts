import { hash } from 'node:crypto';
import { covers } from '../../../protocol/s3/event-names.ts';
import type { NotificationRule } from '../../../protocol/s3/bucket-notification.ts';
import type { Batch, Entry, Key } from '../../store/record-store.ts';
import { decodeKey, endOf, key, partialPrefix, within } from '../../store/keys.ts';
import type { ObjectContext } from '../context/context.ts';
import { slottedEnd } from '../../store/slot.ts';
import { decodeRecord, encodeRecord } from '../records/record-format.ts';
import type { PlannedQueues } from '../context/event-hub.ts';
import type { ObjectEvent, RuledEvent } from '../records/object-event.ts';

/** An event in the queue of a target. */
export interface QueuedEvent extends Omit<ObjectEvent, 'names'> {
  /** The name that the rule asked for, or `s3:TestEvent`. */
  readonly name: string;
  /** The id of the rule. */
  readonly rule: string;
}

/**
 * The keys of queued events: target, object, random part. The object's part is a digest, so that no key is too long; two objects that share
 * it are delivered in the order of both. The order of events is that of the revisions of their records (docs/decisions/0045-outbox.md).
 * The random part is that of `uniquePart`, of `namedPart` or of `namelessPart`.
 */
export const outboxKeys = {
  event: (target: string, object: ObjectRef, unique: Buffer): Key => key('outbox', target, groupPart(object), unique),
  /** The range of the events of an object. */
  ofObject: (target: string, object: ObjectRef) => within('outbox', target, groupPart(object)),
  /** The range of the events of an object that were queued under a name. */
  ofName: (target: string, object: ObjectRef, name: string): KeyRange => {
    const start = partialPrefix('outbox', target, groupPart(object), nameDigest(name));
    return { start, end: endOf(start) };
  },
  /** The range of the events of an object of which no key says whether they have a name: those of `uniquePart`. */
  ofTimes: (target: string, object: ObjectRef): KeyRange => ({
    start: key('outbox', target, groupPart(object)),
    end: partialPrefix('outbox', target, groupPart(object), Buffer.of(NAMELESS)),
  }),
  /** The deliverer's state of a queue. */
  state: (target: string): Key => key('outbox-state', target),
  /** A counter of the events that found the queue full. */
  dropped: (target: string): Key => key('outbox-dropped', target),
  /** Why the target has refused an event, by the key of the event. */
  held: (event: Key): Key => key('outbox-held', ...decodeKey(event).slice(1)),
  /** A counter of the refused events that administrators dropped, or let be tried again. */
  heldCount: (target: string, what: 'dropped' | 'retried'): Key => key('outbox-held-count', target, what),
  /** Changes when an administrator asks for another attempt. */
  retry: (target: string): Key => key('outbox-retry', target),
} as const;

type ObjectRef = Pick<ObjectEvent, 'bucket' | 'key'>;
type KeyRange = ReturnType<typeof within>;

const TIME_BYTES = 6;
/** The first byte of a part that says that its event has no name. No time begins with it. */
const NAMELESS = 0xfe;
/** The first byte of a part with a name. No time begins with it. */
const NAMED = 0xff;
/** Bytes of `NAMELESS`. */
const NAMELESS_BYTES = 1;
/** Bytes of `NAMED` and the digest of the name. */
const NAME_BYTES = 6;
/** All kinds of a last part are as long, since administrators name refused events by it. */
const UNIQUE_BYTES = 16;

function groupPart({ bucket, key: objectKey }: ObjectRef): Buffer {
  return hash('sha1', `${bucket}/${objectKey}`, 'buffer').subarray(0, 8);
}

/** Makes the last part of a key: 6 bytes of milliseconds, 8 random ones, 2 of the slot of the bucket. */
export function uniquePart(
  { time, bucket }: { readonly time: number; readonly bucket: string },
  random: ObjectContext['random'],
): Buffer {
  const unique = Buffer.alloc(UNIQUE_BYTES);
  unique.writeUIntBE(time, 0, TIME_BYTES);
  slottedEnd(bucket, random).copy(unique, TIME_BYTES);
  return unique;
}

/**
 * Makes the last part of a key by which an event is found among many of its object: FF, 5 bytes of the digest of its name, 6 of milliseconds, 2
 * random ones, 2 of the slot of the bucket. An event with the same name at the same time must be the same event.
 */
export function namedPart(
  { time, bucket }: { readonly time: number; readonly bucket: string },
  name: string,
  random: ObjectContext['random'],
): Buffer {
  const unique = Buffer.alloc(UNIQUE_BYTES);
  nameDigest(name).copy(unique);
  unique.writeUIntBE(time, NAME_BYTES, TIME_BYTES);
  const rest = UNIQUE_BYTES - NAME_BYTES - TIME_BYTES;
  slottedEnd(bucket, random)
    .subarray(-rest)
    .copy(unique, NAME_BYTES + TIME_BYTES);
  return unique;
}

/**
 * Makes the last part of a key of an event that is passed over where a name is looked for: FE, 6 bytes of milliseconds, 7 random ones, 2 of the
 * slot of the bucket.
 */
export function namelessPart(
  { time, bucket }: { readonly time: number; readonly bucket: string },
  random: ObjectContext['random'],
): Buffer {
  const unique = Buffer.alloc(UNIQUE_BYTES, NAMELESS);
  unique.writeUIntBE(time, NAMELESS_BYTES, TIME_BYTES);
  const at = NAMELESS_BYTES + TIME_BYTES;
  slottedEnd(bucket, random)
    .subarray(at - UNIQUE_BYTES)
    .copy(unique, at);
  return unique;
}

function nameDigest(name: string): Buffer {
  return Buffer.concat([Buffer.of(NAMED), hash('sha1', name, 'buffer').subarray(0, NAME_BYTES - 1)]);
}

/** Returns when an event was queued, in milliseconds since 1970. */
export function queuedAt(recordKey: Key): number {
  const unique = decodeKey(recordKey)[3];
  return unique?.readUIntBE(timeOffset(unique[0]), TIME_BYTES) ?? 0;
}

function timeOffset(first: number | undefined): number {
  if (first === NAMED) return NAME_BYTES;
  return first === NAMELESS ? NAMELESS_BYTES : 0;
}

/** Returns the key of the event of which a record of `outboxKeys.held` tells. */
export function eventOfHeld(recordKey: Key): Key {
  return key('outbox', ...decodeKey(recordKey).slice(1));
}

/** The part of the key that the events of an object share. */
export function groupOfEvent(recordKey: Key): string {
  return String(decodeKey(recordKey)[2]?.toString('hex'));
}

/** The target whose queue has the event. */
export function queueOfEvent(recordKey: Key): string {
  return String(decodeKey(recordKey)[1]);
}

export function decodeEvent({ value }: Entry): QueuedEvent {
  return decodeRecord(value, 'a queued event') as QueuedEvent;
}

interface QueueContext extends Pick<ObjectContext, 'random'> {
  readonly events: PlannedQueues;
}

/** Returns the records that queue an event, one for each target that a rule names for it. A full queue gets none, and counts it. */
export function queueEvent({ events, random }: QueueContext, event: RuledEvent): NonNullable<Batch['put']> {
  const { rules, names, ...rest } = event;
  const put: { readonly key: Key; readonly value: Buffer }[] = [];
  const done = new Set<string>();
  for (const rule of rules) {
    const name = nameFor(rule, names, event.key);
    // Two groups of one rule, or two rules, may have a name of the same event.
    if (name === undefined || done.has(rule.target)) continue;
    done.add(rule.target);
    if (events.isFull(rule.target)) {
      events.countDropped(rule.target);
      continue;
    }
    const queued: QueuedEvent = { ...rest, name, rule: rule.id };
    put.push({ key: outboxKeys.event(rule.target, event, uniquePart(event, random)), value: encodeRecord(queued) });
  }
  return put;
}

function nameFor(
  { events, prefix = '', suffix = '' }: NotificationRule,
  names: readonly string[],
  objectKey: string,
): string | undefined {
  if (!objectKey.startsWith(prefix) || !objectKey.endsWith(suffix)) return undefined;
  return names.find((name) => events.some((asked) => covers(asked, name)));
}

/** Adds the records of an event to the commit that causes it. */
export function withEvent(context: QueueContext, batch: Omit<Batch, 'id'>, event: RuledEvent): Omit<Batch, 'id'> {
  if (event.rules.length === 0) return batch;
  return { ...batch, put: [...(batch.put ?? []), ...queueEvent(context, event)] };
}

/** The name of the event that a target gets when a configuration names it. */
export const testEventName = 's3:TestEvent';

/** Returns the records of a test event for each target of the rules. */
export function testEvents({ random }: Pick<ObjectContext, 'random'>, event: RuledEvent): NonNullable<Batch['put']> {
  const { rules, names: _names, ...rest } = event;
  return [...new Set(rules.map(({ target }) => target))].map((target) => ({
    key: outboxKeys.event(target, event, uniquePart(event, random)),
    value: encodeRecord({ ...rest, name: testEventName, rule: '' } satisfies QueuedEvent),
  }));
}
