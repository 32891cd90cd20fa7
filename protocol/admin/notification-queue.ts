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
  /** Present while the last attempts have failed. `away`: nothing got through. */
  readonly failure?: { readonly since: number; readonly error: string; readonly away?: true };
  /** The events that the target has refused, while it may take others. The time and the error are those of the first refusal. */
  readonly held?: { readonly events: number; readonly since: number; readonly error: string };
  /** Refused events that administrators dropped. */
  readonly heldDropped: number;
  /** Attempts for refused events that administrators asked for. */
  readonly heldRetried: number;
}
