import { openLineRing } from '../shared-memory/line-ring.ts';
import type { Logger } from '../../platform/output/logger.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { etagOfEvent } from '../notifications/deliver-events.ts';
import type { EventSource } from '../notifications/event-message.ts';
import { listenedEvents, writeHeard } from '../notifications/listened-events.ts';
import type { ClusterView } from '../cluster/membership.ts';
import type { ListenedEvents } from '../s3/operation.ts';
import type { Services } from './services.ts';
import type { SendMessage, ThreadOptions } from './threads.ts';

interface HeardEventsOptions {
  readonly source: () => EventSource;
  readonly cluster: () => ClusterView;
  readonly stopping: AbortSignal;
  readonly send: SendMessage;
  readonly log: Logger;
}

/** Starts or stops reporting the events of this thread to the listeners of the process. */
export function setHearing(
  { events }: Pick<Services, 'events'>,
  { live }: Pick<ThreadOptions, 'live'>,
  on: boolean,
): void {
  const ring = openLineRing(live.events);
  events.listen(on ? (event) => writeHeard(ring, event) : undefined);
}

/** Clients that listen to one thread. Each of them costs the thread a look at every event of the server. */
export const maxListeners = 100;

/** Returns the function that streams events to a client of this thread. The events of other servers cannot be heard. */
export function hearEvents(
  { live }: Pick<ThreadOptions, 'live'>,
  { digests }: Pick<Services, 'digests'>,
  { source, cluster, stopping, send, log }: HeardEventsOptions,
): ListenedEvents {
  const ring = openLineRing(live.events);
  const onDropped = (count: number) => {
    log.warn(
      { event: 'listener-slow', lost: count },
      'a client that listens to events is too slow, and was disconnected',
    );
  };
  const etagOf = (event: Parameters<typeof etagOfEvent>[0]) => etagOfEvent(event, digests);
  let listening = 0;
  const onListen = (change: 1 | -1) => {
    listening += change;
    send({ kind: 'listening-events', listeners: change });
  };
  return (asked) => {
    const servers = cluster().live.length;
    if (servers > 1) {
      throw new S3Error(
        'NotImplemented',
        `Listening hears the events of one server, and ${servers} servers share this store: configure a notification target.`,
      );
    }
    if (listening >= maxListeners) {
      throw new S3Error('SlowDown', `${listening} clients listen to events already; try again later.`);
    }
    return (gone) => {
      const signal = AbortSignal.any([gone, stopping]);
      return counted(listenedEvents(asked, { ring, source, etagOf, signal, onDropped }), onListen);
    };
  };
}

async function* counted(
  events: AsyncIterable<readonly object[]>,
  onListen: (change: 1 | -1) => void,
): AsyncGenerator<readonly object[]> {
  onListen(1);
  try {
    yield* events;
  } finally {
    onListen(-1);
  }
}
