import { randomBytes } from 'node:crypto';
import type { HeldEvent, HeldEventChange, HeldEventPage } from '../../protocol/admin/held-event.ts';
import { decodeEvent, type QueuedEvent } from '../objects/events/outbox.ts';
import { isUnreadable } from '../objects/records/damage.ts';
import { dropHeld, heldEvents, retryHeld, type StoredHeld } from '../outbox/held-records.ts';
import type { Entry, RecordStore } from '../store/record-store.ts';

interface ChangeOptions {
  readonly chosen: readonly string[] | 'all';
  /** Is called with the object of each event that was changed. */
  readonly onChanged: (object: Pick<QueuedEvent, 'bucket' | 'key' | 'versionId'>) => void;
}

/** Opens the events that targets have refused. */
export function heldNotifications(records: RecordStore) {
  return {
    async list(
      target: string,
      { after, limit }: { readonly after: string | undefined; readonly limit: number },
    ): Promise<HeldEventPage> {
      const events: HeldEvent[] = [];
      for await (const held of heldEvents(records, target, after)) {
        if (events.length === limit) return { events, next: events.at(-1)?.id ?? '' };
        events.push(shownEvent(target, held));
      }
      return { events };
    },
    retry: (target: string, change: ChangeOptions): Promise<HeldEventChange> =>
      retryHeld(records, target, optionsOf(change)),
    drop: (target: string, change: ChangeOptions): Promise<HeldEventChange> =>
      dropHeld(records, target, optionsOf(change)),
  };
}

function optionsOf({ chosen, onChanged }: ChangeOptions) {
  return {
    chosen,
    random: randomBytes,
    onChanged: (event: Entry) => {
      const read = readable(event);
      if (read !== undefined) onChanged(read);
    },
  };
}

function shownEvent(target: string, { id, event, record }: StoredHeld): HeldEvent {
  const { since, error, retries = 0 } = record;
  const read = readable(event);
  return {
    target,
    id,
    ...(read && {
      bucket: read.bucket,
      key: read.key,
      ...(read.versionId !== undefined && { versionId: read.versionId }),
      event: read.name,
      time: new Date(read.time).toISOString(),
    }),
    since: new Date(since).toISOString(),
    error,
    retries,
  };
}

/** An event that is damaged is held too: it can be dropped. */
function readable(event: Entry) {
  try {
    return decodeEvent(event);
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}
