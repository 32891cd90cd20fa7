import { readFile } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { connectedTarget } from '../connected-target.ts';
import { isOn, type NotificationTarget, rowAfter, type TargetValues, textOf } from '../target.ts';

/**
 * Keeps the last event of each object in a hash (`namespace`), or appends all events to a list (`access`), as MinIO does.
 *
 * @see https://redis.io/docs/latest/commands/hset/
 */
export function openRedis(values: TargetValues): NotificationTarget {
  const { host, port } = addressOf(textOf(values, 'address') ?? '');
  const key = textOf(values, 'key') ?? '';
  const isNamespace = textOf(values, 'format') !== 'access';
  return connectedTarget<Redis>({
    async connect() {
      const caFile = textOf(values, 'ca_file');
      const redis = new Redis({
        host,
        port,
        username: textOf(values, 'user'),
        password: textOf(values, 'password'),
        lazyConnect: true,
        enableOfflineQueue: false,
        maxRetriesPerRequest: 0,
        // The queue tries again.
        retryStrategy: () => null,
        ...(isOn(values, 'tls') && { tls: { ...(caFile !== undefined && { ca: await readFile(caFile, 'utf8') }) } }),
      });
      // Without a listener an error would end the process. Commands reject with it too.
      let failure: Error | undefined;
      redis.on('error', (error: Error) => (failure ??= error));
      try {
        await redis.connect();
      } catch (error) {
        redis.disconnect();
        throw failure ?? error;
      }
      return redis;
    },
    async send(redis, message) {
      const { key: objectKey, time, record } = message;
      // A test event says only that the connection works.
      if (record === undefined) await redis.ping();
      else if (!isNamespace) await redis.rpush(key, JSON.stringify([{ Event: [record], EventTime: time }]));
      else {
        const row = rowAfter(message);
        if (row === 'removed') await redis.hdel(key, objectKey);
        // An event that changes nothing says whether the target is there.
        else if (row === 'unchanged') await redis.ping();
        else await redis.hset(key, objectKey, JSON.stringify({ Records: [row] }));
      }
    },
    close: (redis) => redis.disconnect(),
  });
}

/** Reads `HOST:PORT`, whose host may be an address of IPv6 in brackets. */
export function addressOf(text: string): { readonly host: string; readonly port: number } {
  const [host = '', port = '6379'] = text.split(/:(?=\d+$)/);
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
}
