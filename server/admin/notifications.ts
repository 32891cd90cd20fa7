import type { AdminServices } from '../administration/services.ts';
import type { NotificationQueue } from '../../protocol/admin/notification-queue.ts';
import { type AdminAnswer, type AdminCall, cofferPath, json, type Route } from './call.ts';

/** The targets of notifications with their queues, as a console shows them. MinIO has no such call. */
export const notificationRoutes: readonly Route[] = [
  { method: 'GET', path: cofferPath('notifications'), action: 'admin:ServerInfo', serve: notifications },
];

async function notifications({ services }: AdminCall): Promise<AdminAnswer> {
  const queues = (await services.notifications?.()) ?? [];
  return json({ targets: queues.map((queue) => shownQueue(queue, services.server.region)) });
}

function shownQueue({ target, type, ...queue }: NotificationQueue, region: string) {
  return {
    target,
    arn: arnOf(target, region),
    ...(type !== undefined && { type }),
    state: stateOf({ target, type, ...queue }),
    waiting: {
      events: queue.events,
      bytes: queue.bytes,
      ...(queue.oldest !== undefined && { since: time(queue.oldest) }),
    },
    limit: queue.limit,
    delivered: queue.delivered,
    failures: queue.failures,
    dropped: queue.dropped,
    ...(queue.fullSince !== undefined && { fullSince: time(queue.fullSince) }),
    ...(queue.failure && { failure: { since: time(queue.failure.since), error: queue.failure.error } }),
    ...(queue.held && { held: { ...queue.held, since: time(queue.held.since) } }),
    heldDropped: queue.heldDropped,
    heldRetried: queue.heldRetried,
  };
}

function stateOf({ type, failure, fullSince }: NotificationQueue): 'not-configured' | 'full' | 'offline' | 'online' {
  if (type === undefined) return 'not-configured';
  if (fullSince !== undefined) return 'full';
  return failure?.away === true ? 'offline' : 'online';
}

/** Returns the ARN by which rules name a target. */
export function arnOf(target: string, region: string): string {
  return `arn:minio:sqs:${region}:${target}`;
}

/** Returns the targets for `mc admin info`: a list for each type. */
export async function notificationInfo({ notifications: queuesOf, server }: AdminServices) {
  const queues = ((await queuesOf?.()) ?? []).filter(({ type }) => type !== undefined);
  const types = Map.groupBy(queues, ({ type }) => String(type));
  return {
    sqsARN: queues.map(({ target }) => arnOf(target, server.region)),
    notifications: [...types].map(([type, of]) => ({
      [type]: of.map(({ target, failure }) => ({
        [target.slice(0, -type.length - 1)]: { status: failure?.away === true ? 'offline' : 'online' },
      })),
    })),
  };
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
