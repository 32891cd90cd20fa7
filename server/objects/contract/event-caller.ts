/** The request that caused an event. Lifecycle rules and the server itself have none. */
export interface EventOrigin {
  /** The access key; empty for a caller without credentials. */
  readonly principal: string;
  readonly address: string;
  readonly requestId: string;
  readonly userAgent?: string | undefined;
}

/** The caller of an operation, as far as its events name them. */
export interface EventCaller {
  /** Called only where an event is observed. */
  eventOrigin?(): EventOrigin;
}

/** The caller whom the events of an operation name. */
export interface ByCaller {
  readonly by?: EventCaller | undefined;
}
