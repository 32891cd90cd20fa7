import { lstat, watch as watchFolder } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { parseTarget, type RemoteTarget } from '../../config/target.ts';
import { listenToEvents } from '../../s3/notifications.ts';
import { formatSize } from '../../terminal/format.ts';
import { printable } from '../../../platform/text/printable.ts';
import { jsonLines } from '../admin-client.ts';
import type { Context } from '../context.ts';
import { defaultEvents, serverEvents, typesOf } from './event-types.ts';

interface WatchOptions {
  /** Names separated by commas. */
  readonly events?: string;
  readonly prefix?: string;
  readonly suffix?: string;
  readonly recursive?: boolean;
}

/** Shows the events of a server, a bucket, a prefix or a local folder as they happen, until Ctrl-C. */
export async function watch(
  context: Context,
  [argument = '']: readonly string[],
  options: WatchOptions,
): Promise<void> {
  const types = typesOf((options.events ?? defaultEvents).split(','), serverEvents);
  const target = parseTarget(argument, await context.aliases());
  if (target.kind === 'local') await watchLocal(context, target.path, types, options);
  else await watchRemote(context, target, types, options);
}

/** An event in the stream of a server. */
interface Notification {
  readonly Records?: readonly EventRecord[];
}

interface EventRecord {
  readonly eventTime?: string;
  readonly eventName?: string;
  readonly s3?: {
    readonly bucket?: { readonly name?: string };
    readonly object?: { readonly key?: string; readonly size?: number };
  };
  readonly source?: { readonly host?: string; readonly port?: string; readonly userAgent?: string };
}

async function watchRemote(
  context: Context,
  target: RemoteTarget,
  events: readonly string[],
  { prefix, suffix = '' }: WatchOptions,
): Promise<void> {
  if (prefix !== undefined && target.key !== '') {
    throw new ProgramError('BadArgument', `\`${target.text}\` has a prefix: leave out --prefix`);
  }
  const client = await context.client(target.alias);
  const stream = await listenToEvents(client, { bucket: target.bucket, events, prefix: prefix ?? target.key, suffix });
  for await (const { Records: records } of jsonLines<Notification>(stream)) {
    for (const record of records ?? []) await print(context, shownRecord(target, record), record.source);
  }
  throw new ProgramError('Failed', 'The server ended the events; it may be restarting');
}

function shownRecord({ alias }: RemoteTarget, { eventTime = '', eventName = '', s3 = {} }: EventRecord): Shown {
  const { bucket: { name = '' } = {}, object: { key = '', size = 0 } = {} } = s3;
  const isPut = eventName.startsWith('s3:ObjectCreated:') && !createdTypes.test(eventName);
  const type = isPut ? 's3:ObjectCreated:Put' : eventName;
  return { time: eventTime, size, path: `${alias.url}/${name}/${key}`, type };
}

/** Other clients call the other kinds of creation a PUT. */
const createdTypes = /^s3:ObjectCreated:(Copy|PutRetention|PutLegalHold)/;

async function watchLocal(
  context: Context,
  path: string,
  types: readonly string[],
  { prefix = '', suffix = '', recursive = false }: WatchOptions,
): Promise<void> {
  const folder = resolve(path);
  for await (const { eventType, filename } of watchFolder(folder, { recursive, signal: context.signal })) {
    if (filename === null || !filename.startsWith(prefix) || !filename.endsWith(suffix)) continue;
    const full = join(folder, filename);
    const found = await lstat(full).catch(() => undefined);
    const time = new Date().toISOString();
    if (found === undefined) {
      const type = 's3:ObjectRemoved:Delete';
      if (eventType === 'rename' && types.includes('s3:ObjectRemoved:*'))
        await print(context, { time, size: 0, path: full, type });
    } else if (found.isFile() && types.includes('s3:ObjectCreated:*')) {
      await print(context, { time, size: found.size, path: full, type: 's3:ObjectCreated:Put' });
    }
  }
}

interface Shown {
  readonly time: string;
  readonly size: number;
  readonly path: string;
  readonly type: string;
}

async function print(context: Context, event: Shown, source: object = {}): Promise<void> {
  const size = event.type.startsWith('s3:ObjectCreated:') ? formatSize(event.size) : '';
  const human = `[${event.time}] ${size.padStart(8)} ${event.type} ${printable(event.path)}`;
  await context.output.line(human, { events: event, source });
}
