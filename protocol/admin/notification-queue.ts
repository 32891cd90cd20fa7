/** The queue of a notification target, for administrators. Times are milliseconds since 1970. */
export interface NotificationQueue {
  /** `ID:TYPE`. */
  readonly target: string;
  /** Undefined for a target without settings: its events wait. */
  readonly type?: string;
  readonly events: number;
  readonly bytes: number;
  /** The time of the oldest event. */
  readonly oldest?: number;
  /** The maximum number of events. */
  readonly limit: number;
  /** Events that the target accepted, since the lease holder began. */
  readonly delivered: number;
  /** Attempts that failed, since the lease holder began. */
  readonly failures: number;
  /** Events that found the queue full. */
  readonly dropped: number;
  /** New events are dropped since this time. */
  readonly fullSince?: number;
  /** Present while the last attempt has failed. */
  readonly failure?: { readonly since: number; readonly error: string };
}
