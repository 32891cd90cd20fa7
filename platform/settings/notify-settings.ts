import { notifyPrefix, notifyTypes, requiredOfTarget, togetherOfTarget } from '../../protocol/settings/notify-rows.ts';
import type { Setting } from '../../protocol/settings/setting.ts';
import { settings } from '../../protocol/settings/table.ts';
import type { SettingValue } from './parse-value.ts';
import { group, type SettingReader } from './setting-source.ts';

/** The targets of notifications, and the bounds of their queues. */
export interface NotifySettings {
  readonly targets: readonly NotifyTargetSettings[];
  /** Bytes of each queue. */
  readonly queueBytes: number;
  readonly whenFull: 'park' | 'drop';
}

/** One target. Its ARN ends with `ID:TYPE`. */
export interface NotifyTargetSettings {
  /** The `<ID>` of the variables; `_` without one. */
  readonly id: string;
  /** `webhook`, … */
  readonly type: string;
  /** The maximum number of waiting events. */
  readonly queueLimit: number;
  /** The other settings, by the end of their name in lower case: `auth_token`. */
  readonly values: Readonly<Record<string, SettingValue>>;
}

/**
 * Reads the targets that are switched on. The reader collects the problems. `suffixesOf` returns the suffixes of the variables that begin
 * with a prefix.
 */
export function readNotifySettings(
  reader: SettingReader,
  suffixesOf: (prefix: string) => readonly string[],
): NotifySettings {
  const all = group(reader, 'SVC_NOTIFY_');
  const bytes = all.read('QUEUE_BYTES');
  return {
    targets: notifyTypes.flatMap((type) =>
      suffixesOf(notifyPrefix(type)).flatMap((suffix) => readTarget(reader, type, suffix) ?? []),
    ),
    queueBytes: typeof bytes === 'object' && 'bytes' in bytes ? bytes.bytes : 1024 ** 3,
    whenFull: all.text('QUEUE_FULL') === 'park' ? 'park' : 'drop',
  };
}

function readTarget(reader: SettingReader, type: string, suffix: string): NotifyTargetSettings | undefined {
  const prefix = notifyPrefix(type);
  const read = group(reader, prefix, suffix);
  if (!read.onOff('ENABLE')) return undefined;
  const missing = (requiredOfTarget[type] ?? []).filter((part) => read.read(part) === undefined);
  for (const part of missing) read.require(part, `${prefix}${part}${suffix} is missing`);
  for (const [one, other] of togetherOfTarget[type] ?? []) {
    if ((read.read(one) === undefined) === (read.read(other) === undefined)) continue;
    reader.problems.push(
      `${prefix}${one}${suffix} and ${prefix}${other}${suffix} belong together: set both, or neither`,
    );
  }
  if (missing.length > 0) return undefined;
  const rows: readonly Setting[] = settings;
  const parts = rows.filter(({ name }) => name.startsWith(prefix)).map(({ name }) => name.slice(prefix.length));
  const values = parts.flatMap((part) => {
    const value = part === 'ENABLE' || part === 'QUEUE_LIMIT' ? undefined : read.read(part);
    return value === undefined ? [] : [[part.toLowerCase(), value] as const];
  });
  return {
    id: suffix === '' ? '_' : suffix.slice(1),
    type,
    queueLimit: read.number('QUEUE_LIMIT') ?? 100_000,
    values: Object.fromEntries(values),
  };
}
