import type { StructuredLog } from '../../../platform/output/structured-log.ts';
import type { AuditSettings } from '../../../platform/settings/audit-settings.ts';

/** A destination of entries. */
export interface AuditTarget {
  readonly name: string;
  /** Never waits. An entry without space is lost, counted and logged. */
  take(line: string): void;
  /** Opens a file again after a log rotation has renamed it. */
  reopen(): void;
  /** Delivers what it can within this many milliseconds. */
  close(withinMs: number): Promise<void>;
}

/** The counters that a target updates. */
export interface AuditReport {
  sent(entries: number): void;
  dropped(entries: number): void;
  waiting(entries: number): void;
  /** `isTaken` says whether the last attempt succeeded. */
  tried(isTaken: boolean): void;
}

export type AuditTargetState = 'online' | 'offline' | 'not tried yet';

export type AuditLogger = Pick<StructuredLog, 'info' | 'warn' | 'error'>;

/** Returns the names of the targets for metrics and logs, in the same order for every thread. */
export function auditTargets({ file, webhooks }: AuditSettings): readonly string[] {
  return [...(file === undefined ? [] : ['file']), ...webhooks.map(({ id }) => `webhook:${id}`)];
}
