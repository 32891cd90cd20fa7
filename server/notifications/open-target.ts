import type { NotifyTargetSettings } from '../../platform/settings/notify-settings.ts';
import type { NotificationTarget, OpenTarget } from './target.ts';

/** Loads the client of a type only where a target uses it. */
const types: Readonly<Record<string, () => Promise<OpenTarget>>> = {
  webhook: async () => (await import('./targets/webhook.ts')).openWebhook,
  nats: async () => (await import('./targets/nats.ts')).openNats,
  redis: async () => (await import('./targets/redis.ts')).openRedis,
  mqtt: async () => (await import('./targets/mqtt.ts')).openMqtt,
  amqp: async () => (await import('./targets/amqp.ts')).openAmqp,
  kafka: async () => (await import('./targets/kafka.ts')).openKafka,
  mysql: async () => (await import('./targets/mysql.ts')).openMysql,
  elasticsearch: async () => (await import('./targets/elasticsearch.ts')).openElasticsearch,
  postgresql: async () => (await import('./targets/postgres.ts')).openPostgres,
};

export async function openTarget({ type, values }: NotifyTargetSettings): Promise<NotificationTarget> {
  const load = types[type];
  if (load === undefined) throw new Error(`no notification target has the type ${type}`);
  return (await load())(values);
}

/** Returns `ID:TYPE`, by which rules and queues name a target. */
export function nameOfTarget({ id, type }: Pick<NotifyTargetSettings, 'id' | 'type'>): string {
  return `${id}:${type}`;
}
