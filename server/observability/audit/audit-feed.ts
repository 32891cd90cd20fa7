import type { StructuredLog } from '../../../platform/output/structured-log.ts';
import type { FinishedRequest } from '../../http/contract/request.ts';
import { auditEntry, type AuditOrigin } from './audit-entry.ts';
import type { AuditTally } from './audit-tally.ts';

interface AuditFeedOptions {
  readonly origin: () => AuditOrigin;
  readonly tally: Pick<AuditTally, 'begins'>;
  /** Sends lines to the thread that has the targets. */
  readonly send: (lines: string[]) => void;
  readonly log: Pick<StructuredLog, 'error'>;
}

/**
 * Makes entries of the requests of one thread, and sends those of an event loop turn together. It never waits, and keeps no more than
 * those.
 */
export class AuditFeed {
  readonly #options: AuditFeedOptions;
  #lines: string[] = [];
  #scheduled = false;
  #losing = false;

  constructor(options: AuditFeedOptions) {
    this.#options = options;
  }

  take(finished: FinishedRequest): void {
    // Probes and scrapes are not audit events.
    if (finished.api === 'other') return;
    const { origin, tally, log } = this.#options;
    const line = JSON.stringify(auditEntry(finished, origin()));
    if (!tally.begins(line.length)) {
      if (!this.#losing)
        log.error({ event: 'audit-lost' }, 'audit entries are lost: they are made faster than written');
      this.#losing = true;
      return;
    }
    this.#losing = false;
    this.#lines.push(line);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.flush());
  }

  /** Sends the gathered lines now. */
  flush(): void {
    this.#scheduled = false;
    if (this.#lines.length === 0) return;
    this.#options.send(this.#lines);
    this.#lines = [];
  }
}
