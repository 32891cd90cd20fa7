import { counted } from '../../../platform/text/message-text.ts';
import type { Context } from '../context.ts';
import { formatDuration, formatSize, formatTime } from '../../terminal/format.ts';
import { printable } from '../../../platform/text/printable.ts';
import { parseRemote } from '../../config/target.ts';
import { adminOf } from '../admin-client.ts';

/** The shown part of the server's answer. Servers differ, so any field may be missing. */
interface InfoMessage {
  readonly mode?: string;
  readonly buckets?: { readonly count?: number };
  readonly objects?: { readonly count?: number };
  readonly usage?: { readonly size?: number; readonly error?: string };
  readonly backend?: { readonly onlineDisks?: number; readonly offlineDisks?: number };
  readonly servers?: readonly ServerInfo[];
  readonly backgroundTasks?: readonly TaskInfo[];
  /** Only Coffer has them. */
  readonly warnings?: readonly string[];
  readonly services?: { readonly kms?: { readonly endpoints?: Readonly<Record<string, string>> } };
}

/** Only Coffer has it. */
interface TaskInfo {
  readonly task?: string;
  readonly state?: string;
  readonly since?: string;
  readonly error?: string;
}

interface ServerInfo {
  readonly endpoint?: string;
  readonly state?: string;
  readonly uptime?: number;
  readonly version?: string;
  readonly network?: Readonly<Record<string, string>>;
  readonly drives?: readonly { readonly state?: string }[];
  readonly poolNumber?: number;
}

export async function adminInfo(
  context: Context,
  [argument = '']: readonly string[],
  { offline = false }: { readonly offline?: boolean } = {},
): Promise<void> {
  const { alias } = parseRemote(argument, await context.aliases());
  const client = await context.client(alias);
  const { text } = await client.text({ method: 'GET', path: '/minio/admin/v3/info', region: 'empty' });
  const info = JSON.parse(text) as InfoMessage;
  const servers = (info.servers ?? []).filter((server) => !offline || isDegraded(server)).map(describeServer);
  const buckets = counted(info.buckets?.count ?? 0, 'Bucket');
  const { size = 0, error } = info.usage ?? {};
  const usage =
    error === undefined
      ? [`${formatSize(size)} Used`, buckets, counted(info.objects?.count ?? 0, 'Object')].join(', ')
      : `${buckets}; ${printable(error)}`;
  const { onlineDisks = 0, offlineDisks = 0 } = info.backend ?? {};
  const drives = `${counted(onlineDisks, 'drive')} online, ${counted(offlineDisks, 'drive')} offline`;
  context.output.message(
    [...servers, usage, drives, ...keyServers(info), ...failingTasks(info), ...warnings(info)].join('\n\n'),
    {
      info,
    },
  );
}

/** Returns a row for each key server, where one of them does not answer. */
export function keyServers({ services }: Pick<InfoMessage, 'services'>): string[] {
  const endpoints = Object.entries(services?.kms?.endpoints ?? {});
  if (endpoints.every(([, state]) => state === 'online')) return [];
  const online = endpoints.filter(([, state]) => state === 'online').length;
  return [
    [
      `Key servers: ${fraction(online, endpoints.length)}`,
      ...endpoints.map(([endpoint, state]) => `   ${printable(endpoint)}: ${printable(state)}`),
    ].join('\n'),
  ];
}

/** Returns a line for each combination of settings that opens more than it says. */
export function warnings({ warnings: texts = [] }: Pick<InfoMessage, 'warnings'>): string[] {
  return texts.map((text) => printable(`Warning: ${text}`));
}

/** Returns a line for each background task whose last attempts failed. */
export function failingTasks({ backgroundTasks = [] }: InfoMessage): string[] {
  return backgroundTasks
    .filter(({ state }) => state === 'failing')
    .map(({ task = '', since = '', error = '' }) =>
      printable(`Background task ${task} fails since ${since}: ${error}`),
    );
}

function isDegraded({ state = 'online', drives = [] }: ServerInfo): boolean {
  return state !== 'online' || drives.some((drive) => drive.state !== 'ok');
}

function describeServer(server: ServerInfo): string {
  const network = Object.values(server.network ?? {});
  const drives = server.drives ?? [];
  return [
    `●  ${printable(server.endpoint ?? 'server')}`,
    ...(server.state === undefined || server.state === 'online' ? [] : [`State: ${printable(server.state)}`]),
    `Uptime: ${formatDuration(server.uptime ?? 0)}`,
    `Version: ${printable(server.version ?? 'unknown')}`,
    `Network: ${fraction(network.filter((state) => state === 'online').length, network.length)}`,
    `Drives: ${fraction(drives.filter(({ state }) => state === 'ok').length, drives.length)}`,
    ...(server.poolNumber === undefined ? [] : [`Pool: ${server.poolNumber}`]),
  ].join('\n   ');
}

function fraction(good: number, all: number): string {
  return `${good}/${all} ${good === all ? 'OK' : 'DEGRADED'}`;
}

interface UsageOptions {
  readonly now?: true;
}

/** The shown part of the answer of Coffer or MinIO. Any field may be missing. */
interface DataUsageInfo {
  readonly lastUpdate?: string;
  readonly objectsCount?: number;
  readonly objectsTotalSize?: number;
  readonly bucketsUsageInfo?: Readonly<
    Record<string, { readonly size?: number; readonly objectsCount?: number }>
  > | null;
}

/** Reads the usage by a call of MinIO's API. Only Coffer can count immediately. */
export async function showUsage(
  context: Context,
  [alias = '']: readonly string[],
  { now }: UsageOptions,
): Promise<void> {
  const admin = await adminOf(context, alias);
  if (now === true) await admin.longRunning({ method: 'POST', api: 'coffer', call: 'usage' });
  const info = await admin.json<DataUsageInfo>({ method: 'GET', call: 'datausageinfo' });
  const { objectsCount: objects = 0, objectsTotalSize: size = 0 } = info;
  const buckets = Object.entries(info.bucketsUsageInfo ?? {})
    .map(([bucket, { size: bytes = 0, objectsCount = 0 }]) => ({ bucket, objects: objectsCount, size: bytes }))
    .toSorted((a, b) => (a.bucket < b.bucket ? -1 : 1));
  const at = new Date(info.lastUpdate ?? 0);
  const human =
    at.getTime() <= 0
      ? 'Nothing was counted yet: `--now` has the server do it.'
      : [
          context.output.table(
            ['BUCKET', 'OBJECTS', 'SIZE'],
            buckets.map((row) => [row.bucket, String(row.objects), formatSize(row.size)]),
          ),
          `\n${counted(objects, 'object')}, ${formatSize(size)}, as of ${formatTime(at)}`,
        ].join('\n');
  context.output.message(human, { lastUpdate: info.lastUpdate ?? null, objects, size, buckets });
}
