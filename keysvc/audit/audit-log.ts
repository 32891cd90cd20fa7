import { EventEmitter } from 'node:events';

/** One call, as the audit shows it: who, what, with which outcome. Never key material, never a body. */
export interface AuditEvent {
  readonly time: string;
  readonly request: { readonly ip?: string; readonly path: string; readonly identity?: string };
  /** `time` in nanoseconds. */
  readonly response: { readonly code: number; readonly time: number };
}

/**
 * Every call that was answered, refusals and calls without identity included. Lines go to `write`; listeners of `event` are for the
 * audit streams of the protocol.
 */
export class AuditLog extends EventEmitter<{ event: [AuditEvent] }> {
  readonly #write: ((line: string) => void) | undefined;

  constructor(write?: (line: string) => void) {
    super();
    this.#write = write;
  }

  record(event: AuditEvent): void {
    this.#write?.(`${JSON.stringify(event)}\n`);
    this.emit('event', event);
  }
}
