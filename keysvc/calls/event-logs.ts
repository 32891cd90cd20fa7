import { EventEmitter } from 'node:events';

/** The source of a stream. A stream has only events after its start. */
export type EventSource = EventEmitter<{ event: [object] }>;

/** One call in the audit log. It has no key material and no body. */
export interface AuditEvent {
  readonly time: string;
  readonly request: { readonly ip?: string; readonly path: string; readonly identity?: string };
  /** `time` is in nanoseconds. */
  readonly response: { readonly code: number; readonly time: number };
}

interface ReloadEvent {
  readonly time: string;
  readonly event: 'config-reloaded';
  /** Names of settings in the configuration file. */
  readonly changed: readonly string[];
}

/**
 * Records every answered call, including refused calls and calls without an identity. Lines go to `write`; the streams of the protocol
 * listen to `event`.
 */
export class AuditLog extends EventEmitter<{ event: [AuditEvent] }> {
  readonly #write: (line: string) => void;
  #enabled: boolean;

  constructor(write: (line: string) => void, enabled: boolean) {
    super();
    // `EventStreams` limits the number of listeners.
    this.setMaxListeners(0);
    this.#write = write;
    this.#enabled = enabled;
  }

  /** Switches the lines on or off. Listeners get the events in either case. */
  enable(enabled: boolean): void {
    this.#enabled = enabled;
  }

  record(event: AuditEvent): void {
    if (this.#enabled) this.#write(`${JSON.stringify(event)}\n`);
    this.emit('event', event);
  }

  /** Records a change of the configuration, which no call made. The streams of the protocol do not have it. */
  recordReload(event: ReloadEvent): void {
    if (this.#enabled) this.#write(`${JSON.stringify(event)}\n`);
  }
}

/** One failure in the error stream of the protocol. */
interface ErrorEvent {
  readonly message: string;
}

/** Records failures of the service itself, such as an unreachable key store or a broken handshake. Rejected calls are in the audit log. */
export class ErrorLog extends EventEmitter<{ event: [ErrorEvent] }> {
  constructor() {
    super();
    // `EventStreams` limits the number of listeners.
    this.setMaxListeners(0);
  }

  record(message: string): void {
    this.emit('event', { message });
  }
}
