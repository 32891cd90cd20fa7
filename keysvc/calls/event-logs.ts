import { EventEmitter } from 'node:events';

/** What a stream shows: events as they come, none of before. */
export type EventSource = EventEmitter<{ event: [object] }>;

/** One call, as the audit shows it: who, what, with which outcome. Never key material, never a body. */
export interface AuditEvent {
  readonly time: string;
  readonly request: { readonly ip?: string; readonly path: string; readonly identity?: string };
  /** `time` in nanoseconds. */
  readonly response: { readonly code: number; readonly time: number };
}

interface ReloadEvent {
  readonly time: string;
  readonly event: 'config-reloaded';
  /** Names of the configuration file. */
  readonly changed: readonly string[];
}

/**
 * Every call that was answered, refusals and calls without identity included. Lines go to `write`; listeners of `event` are for the
 * audit streams of the protocol.
 */
export class AuditLog extends EventEmitter<{ event: [AuditEvent] }> {
  readonly #write: (line: string) => void;
  #enabled: boolean;

  constructor(write: (line: string) => void, enabled: boolean) {
    super();
    // How many listen is bounded where the streams are opened.
    this.setMaxListeners(0);
    this.#write = write;
    this.#enabled = enabled;
  }

  /** Whether lines are written; listeners hear of every call either way. */
  enable(enabled: boolean): void {
    this.#enabled = enabled;
  }

  record(event: AuditEvent): void {
    if (this.#enabled) this.#write(`${JSON.stringify(event)}\n`);
    this.emit('event', event);
  }

  /** A change of who may do what that came by no call: a line of its own, for no stream of the protocol. */
  recordReload(event: ReloadEvent): void {
    if (this.#enabled) this.#write(`${JSON.stringify(event)}\n`);
  }
}

/** One failure, as the error stream of the protocol shows it. */
interface ErrorEvent {
  readonly message: string;
}

/** Failures of the service itself: a key store that does not answer, a handshake that broke. Refusals are in the audit. */
export class ErrorLog extends EventEmitter<{ event: [ErrorEvent] }> {
  constructor() {
    super();
    // How many listen is bounded where the streams are opened.
    this.setMaxListeners(0);
  }

  record(message: string): void {
    this.emit('event', { message });
  }
}
