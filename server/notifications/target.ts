import type { SettingValue } from '../../platform/settings/parse-value.ts';
import type { EventMessage } from './event-message.ts';

/** A destination of events. A new type is one file that opens one, and its settings in `protocol/settings/notify-rows.ts`. */
export interface NotificationTarget {
  /** Resolves when the target has taken the event for good. Rejects with `DeliveryError` or the error of the connection. */
  send(message: EventMessage): Promise<void>;
  /** Resolves where the target answers; it gets no event. Rejects as `send` does. Absent where a target has no answer but to events. */
  readonly reach?: () => Promise<void>;
  close(): Promise<void>;
  /** True where the events that are sent at the same time share no connection. */
  readonly isSeparate?: true;
}

/** Opens a target. It connects with the first event, so that a broker that is away does not keep the server from starting. */
export type OpenTarget = (values: TargetValues) => NotificationTarget;

/** The settings of a target, by the end of their name in lower case. */
export type TargetValues = Readonly<Record<string, SettingValue>>;

export function textOf(values: TargetValues, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

export function numberOf(values: TargetValues, name: string): number | undefined {
  const value = values[name];
  return typeof value === 'number' ? value : undefined;
}

export function isOn(values: TargetValues, name: string): boolean {
  return values[name] === true;
}

/** The names of events that leave no current version, unless they say which one it is. */
const removals: ReadonlySet<string> = new Set([
  's3:ObjectRemoved:Delete',
  's3:LifecycleExpiration:Delete',
  's3:LifecycleDelMarkerExpiration:Delete',
]);

/**
 * Returns what a target that keeps the last event of each object has for the object of an event from now on. It follows the current version: the
 * removal of an old version leaves it `unchanged`, and that of a delete marker brings the version before it back.
 */
export function rowAfter({ name, record, current }: EventMessage): object | 'unchanged' | 'removed' {
  if (current !== undefined) return current;
  return record === undefined || removals.has(name) ? 'removed' : record;
}
