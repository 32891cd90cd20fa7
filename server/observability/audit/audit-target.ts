import type { AuditSettings } from '../../../platform/settings/audit-settings.ts';

/** Where entries go. */
export interface AuditTarget {
  readonly name: string;
  /** Never waits; what there is no room for is lost, counted and logged. */
  take(line: string): void;
  /** Begins a file anew, after somebody has moved it. */
  reopen(): void;
  /** Delivers what it can in so many milliseconds. */
  close(withinMs: number): Promise<void>;
}

/** What a target tells of its entries. */
export interface AuditReport {
  sent(entries: number): void;
  lost(entries: number): void;
  waiting(entries: number): void;
}

export interface AuditLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Where entries go, by the names that metrics and the log have for it, in an order that every thread finds. */
export function auditTargets({ file, webhooks }: AuditSettings): readonly string[] {
  return [...(file === undefined ? [] : ['file']), ...webhooks.map(({ id }) => `webhook:${id}`)];
}
