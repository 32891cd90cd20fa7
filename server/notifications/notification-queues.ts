import type { NotificationQueue } from '../../protocol/admin/notification-queue.ts';
import type { NotifySettings } from '../../platform/settings/notify-settings.ts';
import { targetOfQueue } from '../objects/replication/queue-replication.ts';
import { readQueues } from '../outbox/queue-state.ts';
import type { RecordStore } from '../store/record-store.ts';
import { nameOfTarget } from './open-target.ts';

/** Reads the queues of all targets: those of the settings, and those that still have events. */
export async function notificationQueues(
  records: RecordStore,
  { targets }: NotifySettings,
): Promise<readonly NotificationQueue[]> {
  const states = new Map((await readQueues(records)).map((queue) => [queue.target, queue]));
  const configured = targets.map((settings) => {
    const target = nameOfTarget(settings);
    const { type, queueLimit: limit } = settings;
    return { ...(states.get(target) ?? { ...empty, target }), type, limit };
  });
  const names = new Set(configured.map(({ target }) => target));
  const others = [...states.values()].filter(
    ({ target, events }) => !names.has(target) && events > 0 && targetOfQueue(target) === undefined,
  );
  return [...configured, ...others.map((queue) => ({ ...queue, limit: 0 }))];
}

const empty = { events: 0, bytes: 0, delivered: 0, failures: 0, dropped: 0, heldDropped: 0, heldRetried: 0 };
