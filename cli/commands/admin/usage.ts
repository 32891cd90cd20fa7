import { adminOf } from '../../admin/admin-client.ts';
import type { Context } from '../../context.ts';
import { counted, formatSize, formatTime } from '../../terminal/format.ts';
import { textTable } from '../../terminal/text-table.ts';

export interface UsageOptions {
  readonly now?: true;
}

/** What is shown of the answer of either server; each field may be missing. */
interface DataUsageInfo {
  readonly lastUpdate?: string;
  readonly objectsCount?: number;
  readonly objectsTotalSize?: number;
  readonly bucketsUsageInfo?: Readonly<
    Record<string, { readonly size?: number; readonly objectsCount?: number }>
  > | null;
}

/** By MinIO's call, which both servers have; counting at once is Coffer's alone. */
export async function showUsage(
  context: Context,
  [alias = '']: readonly string[],
  { now }: UsageOptions,
): Promise<void> {
  const admin = await adminOf(context, alias);
  if (now === true) await admin.slow({ method: 'POST', api: 'coffer', call: 'usage' });
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
          textTable(
            ['BUCKET', 'OBJECTS', 'SIZE'],
            buckets.map((row) => [row.bucket, String(row.objects), formatSize(row.size)]),
          ),
          `\n${counted(objects, 'object')}, ${formatSize(size)}, as of ${formatTime(at)}`,
        ].join('\n');
  context.output.message(human, { lastUpdate: info.lastUpdate ?? null, objects, size, buckets });
}
