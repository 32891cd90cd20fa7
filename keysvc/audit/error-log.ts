import { EventEmitter } from 'node:events';

/** One failure, as the error stream of the protocol shows it. */
export interface ErrorEvent {
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
