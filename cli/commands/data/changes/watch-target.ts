import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import type { RemoteTarget, Target } from '../../../config/target.ts';
import { listenToEvents } from '../../../s3/notifications.ts';
import { singleAttempt } from '../../../s3/retry.ts';
import { jsonLines } from '../../admin-client.ts';
import type { Context } from '../../context.ts';
import { ChangeQueue } from './change-queue.ts';
import { FolderWatcher } from './folder-watcher.ts';
import { ResponseError } from '../../../../protocol/response-error.ts';

/** The changes below a place, from when it was opened. */
export interface WatchedTarget {
  readonly queue: ChangeQueue;
  readonly close: () => void;
}

/** Begins to watch what is below a folder of this machine, a prefix, a bucket or a server. */
export async function watchTarget(context: Context, target: Target): Promise<WatchedTarget> {
  const queue = new ChangeQueue();
  if (target.kind === 'remote') return watchServer(context, target, queue);
  const watcher = new FolderWatcher(resolve(target.path), queue);
  try {
    await watcher.start();
  } catch (error) {
    watcher.close();
    throw error;
  }
  return { queue, close: () => watcher.close() };
}

/** The fields of an event that are read here. */
interface Notification {
  /** Null in a sign of life. */
  readonly Records?:
    | readonly {
        readonly s3?: { readonly bucket?: { readonly name?: string }; readonly object?: { readonly key?: string } };
      }[]
    | null;
}

/** Milliseconds. Some servers send no header before the first event. */
const headerMs = 1_000;

async function watchServer(context: Context, target: RemoteTarget, queue: ChangeQueue): Promise<WatchedTarget> {
  const client = await context.client(target.alias);
  const { bucket, key: prefix } = target;
  const events = ['s3:ObjectCreated:*', 's3:ObjectRemoved:*'];
  const closed = new AbortController();
  const listening = listenToEvents(client, { bucket, events, prefix, suffix: '' }, singleAttempt);
  const read = async (): Promise<void> => {
    const body = await listening;
    if (closed.signal.aborted) body.destroy();
    closed.signal.addEventListener('abort', () => body.destroy());
    await readEvents(jsonLines<Notification>(body), target, queue);
  };
  read().catch((error: unknown) => queue.fail(error));
  try {
    await Promise.race([listening, sleep(headerMs, undefined, { signal: context.signal })]);
  } catch (error) {
    if (!(error instanceof ResponseError) || error.status !== 501) throw error;
    throw new ProgramError('Failed', `The server of \`${target.text}\` does not tell of changes, which --watch needs`, {
      cause: error,
    });
  }
  return { queue, close: () => closed.abort() };
}

async function readEvents(
  lines: AsyncIterable<Notification>,
  { bucket, key: prefix }: RemoteTarget,
  queue: ChangeQueue,
): Promise<void> {
  for await (const { Records: records } of lines) {
    for (const { s3 } of records ?? []) {
      // In this stream keys are as they are; in messages to other targets they are encoded.
      const key = s3?.object?.key ?? '';
      const name = bucket === '' ? `${s3?.bucket?.name ?? ''}/${key}` : key.slice(prefix.length);
      if (key.startsWith(prefix) && name !== '') queue.add(name);
    }
  }
  throw Object.assign(new Error('The server ended the events'), { code: 'ECONNRESET' });
}
