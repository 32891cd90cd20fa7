/** An event that a target has refused, for administrators. It stays in the queue, and is tried again more and more rarely. Times are ISO 8601. */
export interface HeldEvent {
  /** `ID:TYPE`. */
  readonly target: string;
  /** 48 hexadecimal digits. */
  readonly id: string;
  /** Absent for an event that cannot be read. */
  readonly bucket?: string;
  readonly key?: string;
  readonly versionId?: string;
  /** The name of the event, such as `s3:ObjectCreated:Put`. */
  readonly event?: string;
  /** When the event happened. */
  readonly time?: string;
  /** When the target refused it first. */
  readonly since: string;
  /** The first refusal. */
  readonly error: string;
  /** How often an administrator asked for another attempt. */
  readonly retries: number;
}

/** A page of held events, in the order of their names. */
export interface HeldEventPage {
  readonly events: readonly HeldEvent[];
  /** The name after which the next page begins. Absent at the end. */
  readonly next?: string;
}

/** What was done to held events. */
export interface HeldEventChange {
  /** Events that were dropped, or will be tried again. */
  readonly changed: number;
  /** The names that are no held events. */
  readonly unknown: readonly string[];
}
