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
