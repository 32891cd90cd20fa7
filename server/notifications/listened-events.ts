import { covers } from '../../protocol/s3/event-names.ts';
import type { LineRing } from '../shared-memory/line-ring.ts';
import { followLines } from '../shared-memory/line-ring.ts';
import type { ObjectEvent } from '../objects/records/object-event.ts';
import type { QueuedEvent } from '../objects/events/outbox.ts';
import { eventRecord, type EventSource, sequencerOf } from './event-message.ts';

interface AskedEvents {
  /** Undefined for all buckets. */
  readonly bucket: string | undefined;
  /** Names, or groups that end with `:*`. */
  readonly names: readonly string[];
  readonly prefix: string;
  readonly suffix: string;
}

interface ListenOptions {
  readonly ring: LineRing;
  readonly source: () => EventSource;
  readonly etagOf: (event: QueuedEvent) => Promise<string | undefined>;
  readonly signal: AbortSignal;
  /** Called with the count of events that this client has missed. The stream ends then: the client connects again. */
  readonly onDropped: (count: number) => void;
}

/** Appends an event of this thread for the listeners of the process. */
export function writeHeard(ring: LineRing, { names, time, bucket, key, versionId, object, origin }: ObjectEvent): void {
  ring.append(JSON.stringify({ names, time, bucket, key, versionId, object, origin } satisfies ObjectEvent));
}

/** Yields the records of the events that a listener asks for, from now on. As in MinIO, their keys are not encoded. */
export async function* listenedEvents(
  asked: AskedEvents,
  { ring, source, etagOf, signal, onDropped }: ListenOptions,
): AsyncGenerator<readonly object[]> {
  for await (const { lines, dropped } of followLines(ring, ring.newest(), signal)) {
    if (dropped > 0) return onDropped(dropped);
    const records: object[] = [];
    for (const line of lines) {
      const { names, ...event } = JSON.parse(line) as ObjectEvent;
      const name = nameFor(asked, names, event);
      if (name === undefined) continue;
      const heard = { ...event, name, rule: '' };
      const record = eventRecord(heard, source(), { sequencer: sequencerOf(event.time), etag: await etagOf(heard) });
      records.push({ ...record, s3: { ...record.s3, object: { ...record.s3.object, key: event.key } } });
    }
    if (records.length > 0) yield records;
  }
}

function nameFor(
  { bucket: ofBucket, names: asked, prefix, suffix }: AskedEvents,
  names: readonly string[],
  { bucket, key }: Pick<ObjectEvent, 'bucket' | 'key'>,
): string | undefined {
  if (ofBucket !== undefined && bucket !== ofBucket) return undefined;
  if (!key.startsWith(prefix) || !key.endsWith(suffix)) return undefined;
  return names.find((name) => asked.some((one) => covers(one, name)));
}
