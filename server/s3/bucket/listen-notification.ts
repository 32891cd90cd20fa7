import { setTimeout as sleep } from 'node:timers/promises';
import { checkFilterValue } from '../../../protocol/s3/bucket-notification.ts';
import { bucketEvents, isEventName } from '../../../protocol/s3/event-names.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { Answer } from '../../http/contract/request.ts';
import type { ListenedEvents, Operation, S3Call } from '../operation.ts';

/**
 * Streams the events of a bucket: an extension of MinIO, for `mc watch`.
 *
 * @see https://min.io/docs/minio/linux/developers/go/API.html#ListenBucketNotification
 */
export const listenBucketNotification: Operation = {
  name: 'ListenBucketNotification',
  action: 's3:ListenBucketNotification',
  async handle(call) {
    const asked = askedEvents(call);
    await call.objects.headBucket(call.bucket);
    return listen(call, asked);
  },
};

/** Streams the events of all buckets. */
export const listenNotification: Operation = {
  name: 'ListenNotification',
  action: 's3:ListenNotification',
  handle: (call) => Promise.resolve(listen(call, askedEvents(call))),
};

type AskedEvents = Parameters<ListenedEvents>[0];

function askedEvents({ request, query, bucket }: S3Call): AskedEvents & { readonly pingMs: number | undefined } {
  const given = new URLSearchParams(request.rawQuery);
  const names = given.getAll('events').filter((name) => name !== '');
  const known: readonly string[] = bucketEvents;
  for (const name of names) {
    if (!isEventName(name) && !known.includes(name)) {
      throw invalid('A specified event is not supported for notifications.', 'events', name);
    }
  }
  const [prefix, suffix] = (['prefix', 'suffix'] as const).map((name) => {
    if (given.getAll(name).length > 1)
      throw invalid(`Cannot specify more than one ${name} rule in a filter.`, name, '');
    const value = query.get(name) ?? '';
    checkFilterValue(value);
    return value;
  });
  const ping = query.get('ping');
  if (ping !== undefined && !/^[1-9]\d{0,4}$/.test(ping)) throw invalid('ping is a number of seconds.', 'ping', ping);
  const pingMs = ping === undefined ? undefined : Number(ping) * 1_000;
  return { bucket: bucket === '' ? undefined : bucket, names, prefix: prefix ?? '', suffix: suffix ?? '', pingMs };
}

function listen(call: S3Call, { pingMs, ...asked }: ReturnType<typeof askedEvents>): Answer {
  const { listenedEvents } = call;
  if (listenedEvents === undefined) throw new S3Error('NotImplemented', 'This server has no listeners.');
  const events = listenedEvents(asked);
  return {
    status: 200,
    // Proxies must not hold events back.
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
    body: { kind: 'endless', chunks: (gone) => lines(events(gone), pingMs, gone) },
  };
}

const ping = Buffer.from('{"Records":null}\n');

/** Writes each event on a line, and an empty message where none came for the time of a ping. */
async function* lines(
  events: AsyncIterable<readonly object[]>,
  pingMs: number | undefined,
  gone: AbortSignal,
): AsyncGenerator<Buffer> {
  const iterator = events[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (;;) {
      const found = pingMs === undefined ? await next : await Promise.race([next, pause(pingMs, gone)]);
      if (found === undefined) {
        if (gone.aborted) return;
        yield ping;
        continue;
      }
      if (found.done === true) return;
      yield Buffer.from(found.value.map((record) => `${JSON.stringify({ Records: [record] })}\n`).join(''));
      next = iterator.next();
    }
  } finally {
    await iterator.return?.();
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<undefined> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}

function invalid(message: string, name: string, value: string): S3Error {
  return new S3Error('InvalidArgument', message, {
    details: { ArgumentName: name, ArgumentValue: value.slice(0, 100) },
  });
}
