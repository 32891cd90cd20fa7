import { readFile } from 'node:fs/promises';
import { createLimitedFetch, type LimitedFetch } from '../../../platform/http/limited-fetch.ts';
import type { AuditWebhookSettings } from '../../../platform/settings/audit-settings.ts';
import { semaphore } from '../../../platform/async/concurrency.ts';
import type { AuditLogger, AuditReport, AuditTarget } from './audit-target.ts';
import { DeliveryError } from '../../outbox/delivery-error.ts';
import type { WaitingLines } from './waiting-lines.ts';
import { backoffMs, pause } from '../../../platform/async/backoff.ts';

/** Sends entries. Rejects with `DeliveryError`, or the error of the connection. */
type PostEntries = (lines: readonly string[]) => Promise<void>;

/** By the statuses 400, 413 and 422 the service, or a proxy before it, refuses these entries. */
export function answerError(status: number): DeliveryError {
  const isRejection = status === 400 || status === 413 || status === 422;
  return new DeliveryError(isRejection ? 'rejected' : 'unavailable', `it answered ${status}`, { status });
}

export interface Sender {
  readonly deploymentId: () => string;
  readonly version: string;
}

/** Posts entries as MinIO does: one JSON document, or one on each line where the settings allow batches. */
export function postEntries(settings: AuditWebhookSettings, sender: Sender): PostEntries {
  let fetch: Promise<LimitedFetch> | undefined;
  return async (lines) => {
    const headers = {
      'content-type': settings.batchSize === 1 ? 'application/json' : 'application/x-ndjson',
      'user-agent': `Coffer/${sender.version}`,
      'x-minio-deployment-id': sender.deploymentId(),
      'x-minio-webhook-payload-count': String(lines.length),
      ...(settings.authToken === undefined ? {} : { authorization: settings.authToken }),
    };
    let status: number;
    try {
      fetch ??= openFetch(settings);
      ({ status } = await (await fetch)(settings.endpoint, { method: 'POST', headers, body: `${lines.join('\n')}\n` }));
    } catch (error) {
      // The certificates may have been replaced.
      fetch = undefined;
      throw error;
    }
    if (status < 200 || status >= 300) throw answerError(status);
  };
}

async function openFetch({ caFile, clientCertificate, timeoutMs }: AuditWebhookSettings): Promise<LimitedFetch> {
  return createLimitedFetch({
    timeoutMs,
    maxBytes: 64 * 1024,
    statusAlone: true,
    ...(caFile === undefined ? {} : { ca: await readFile(caFile, 'utf8') }),
    ...(clientCertificate === undefined
      ? {}
      : {
          client: { cert: await readFile(clientCertificate.certFile), key: await readFile(clientCertificate.keyFile) },
        }),
  });
}

/** The maximum of concurrent requests to one address. */
const maxBatch = 8;
/** Milliseconds. */
const maxDelayMs = 60_000;
/**
 * Refusals of the same entries after which they are set aside. The protocol has no words that tell the service from a proxy, whose refusal ends
 * with its fault; with the delays between them these refusals span 45 s.
 */
const maxRejections = 5;

interface WebhookTargetOptions {
  readonly name: string;
  readonly post: PostEntries;
  readonly queue: WaitingLines;
  readonly batchSize: number;
  /** 0 retries without end. */
  readonly maxRetries: number;
  readonly retryMs: number;
  readonly report: AuditReport;
  readonly log: AuditLogger;
  /** Resolves after this time, or as soon as the signal aborts. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Sends entries to a web service and retries until it accepts them. Only the entries wait, and their queue is bounded. */
export class WebhookTarget implements AuditTarget {
  readonly name: string;
  readonly #options: WebhookTargetOptions;
  readonly #given = new AbortController();
  readonly #running: Promise<void>;
  #losing = false;
  #away = false;

  constructor(options: WebhookTargetOptions) {
    this.name = options.name;
    this.#options = options;
    this.#running = this.#run();
  }

  take(line: string): void {
    const { queue, report } = this.#options;
    if (queue.push(line)) {
      this.#losing = false;
      report.waiting(queue.count);
      return;
    }
    report.dropped(1);
    if (!this.#losing) {
      const fields = { event: 'audit-lost', target: this.name, waiting: queue.count };
      this.#options.log.error(fields, `audit entries for ${this.name} are lost: too many wait`);
    }
    this.#losing = true;
  }

  reopen(): void {
    // A connection is opened on demand.
  }

  async close(withinMs: number): Promise<void> {
    const { queue } = this.#options;
    await queue.end();
    const late = setTimeout(() => this.#given.abort(), withinMs);
    await this.#running;
    clearTimeout(late);
    this.#options.report.waiting(queue.count);
    if (queue.count > 0) {
      const fields = { event: 'audit-undelivered', target: this.name, waiting: queue.count };
      this.#options.log.warn(fields, `${queue.count} audit entries were not delivered to ${this.name}`);
    }
  }

  async #run(): Promise<void> {
    const { queue, batchSize, report, log } = this.#options;
    const limited = semaphore(maxBatch);
    try {
      for (let lines = await queue.next(); lines !== undefined; lines = await queue.next()) {
        const batches = inBatches(lines, batchSize);
        await Promise.all(batches.map((batch) => limited(() => this.#deliver(batch))));
        if (this.#given.signal.aborted) return;
        await queue.done();
        report.waiting(queue.count);
      }
    } catch (error) {
      log.error({ event: 'audit-stopped', target: this.name, err: error }, `nothing goes to ${this.name} any more`);
    }
  }

  /** Resolves when the entries are delivered or abandoned. */
  async #deliver(batch: readonly string[]): Promise<void> {
    const { post, maxRetries, retryMs, report, wait = pause } = this.#options;
    const { signal } = this.#given;
    let rejections = 0;
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        await post(batch);
        report.sent(batch.length);
        report.tried(true);
        this.#isBack();
        return;
      } catch (error) {
        report.tried(false);
        const isRejected = error instanceof DeliveryError && error.code === 'rejected';
        if (isRejected && error.status === 413 && batch.length > 1) return this.#deliverHalves(batch);
        if (isRejected) rejections++;
        if (rejections >= maxRejections) return this.#setAside(batch, error);
        if (maxRetries > 0 && attempt >= maxRetries) return this.#giveUp(batch, error);
        this.#isAway(error);
        await wait(backoffMs(attempt + 1, { firstMs: retryMs, maxMs: maxDelayMs, jitter: 0 }), signal);
      }
    }
  }

  /** The batch is too large for the service. */
  async #deliverHalves(batch: readonly string[]): Promise<void> {
    const half = Math.ceil(batch.length / 2);
    await this.#deliver(batch.slice(0, half));
    await this.#deliver(batch.slice(half));
  }

  /** Entries that the service refuses wait for a person, so that those behind them go on. */
  async #setAside(batch: readonly string[], error: unknown): Promise<void> {
    const path = await this.#options.queue.setAside(batch).catch(() => undefined);
    if (path === undefined) return this.#giveUp(batch, error);
    this.#options.report.dropped(batch.length);
    const fields = { event: 'audit-refused', target: this.name, entries: batch.length, path, err: error };
    this.#options.log.error(
      fields,
      `${batch.length} audit entries are refused by ${this.name}, and are kept in ${path}: ${textOf(error)}`,
    );
  }

  #giveUp(batch: readonly string[], error: unknown): void {
    this.#options.report.dropped(batch.length);
    const fields = { event: 'audit-lost', target: this.name, entries: batch.length, err: error };
    this.#options.log.error(fields, `${batch.length} audit entries for ${this.name} are lost: ${textOf(error)}`);
  }

  #isAway(error: unknown): void {
    if (this.#away) return;
    this.#away = true;
    const fields = { event: 'audit-away', target: this.name, err: error };
    this.#options.log.warn(fields, `audit entries cannot be sent to ${this.name}: ${textOf(error)}; they wait`);
  }

  #isBack(): void {
    if (!this.#away) return;
    this.#away = false;
    this.#options.log.info({ event: 'audit-back', target: this.name }, `${this.name} takes audit entries again`);
  }
}

function inBatches(lines: readonly string[], size: number): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(lines.length / size) }, (_, at) => lines.slice(at * size, (at + 1) * size));
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
