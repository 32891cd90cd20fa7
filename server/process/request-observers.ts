import { randomBytes } from 'node:crypto';
import type { Logger } from '../../platform/output/logger.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { RequestHandler, RequestEvents } from '../http/contract/request.ts';
import type { AssumeRoleWithWebIdentity } from '../sts/assume-role-with-web-identity.ts';
import { traceSettings } from '../observability/tracing/trace-settings.ts';
import type { Stores } from '../observability/tracing/traced-stores.ts';
import type { AuditTargetSums } from '../observability/audit/audit-tally.ts';
import { AccessLogs } from '../observability/access-log/access-logs.ts';
import { readLoggings } from '../objects/buckets/bucket-logging.ts';
import type { ObjectLayer } from '../objects/contract/object-layer.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { SendMessage, ThreadOptions } from './threads.ts';
import { followLines, type FollowedLines, type LineRing } from '../shared-memory/line-ring.ts';
import { traceLine } from '../admin/streams/trace-line.ts';

/** The tracing of a thread. */
export interface RequestTracing {
  stores(stores: Stores): Stores;
  handler(inner: RequestHandler, events: RequestEvents): RequestHandler;
  assumeRole(assume: AssumeRoleWithWebIdentity): AssumeRoleWithWebIdentity;
  close(): Promise<void>;
}

/** Milliseconds that the last spans get. */
const lastMs = 5_000;

/** Opens tracing by the standard variables of OpenTelemetry. Without them it loads none of the packages and returns undefined. */
export async function openRequestTracing(
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Promise<RequestTracing | undefined> {
  const settings = traceSettings(env);
  if (settings === undefined) return undefined;
  for (const warning of settings.warnings) log.warn(warning);
  const [{ openTracing }, { traced }] = await Promise.all([
    import('../observability/tracing/tracing.ts'),
    import('../observability/tracing/traced-stores.ts'),
  ]);
  const opened = openTracing(settings, packageJson.version);
  const { tracing } = opened;
  return {
    stores: (stores) => traced(stores, tracing),
    handler: (inner, events) => tracing.handler(inner, events),
    assumeRole: (assume) => (request) => tracing.span('token.verify', {}, () => assume(request)),
    close: () => opened.close(lastMs),
  };
}

interface OpenAuditFeed {
  /** Sends the pending entries at once. */
  flush(): void;
  /** Returns the sums of all threads. */
  sums(): readonly AuditTargetSums[];
}

/** Sends the requests of this thread to the audit log; without one it loads nothing and returns undefined. */
export async function openAuditFeed(
  { audit, settings }: ThreadOptions,
  events: RequestEvents,
  {
    deploymentId,
    send,
    log,
  }: { readonly deploymentId: () => string; readonly send: SendMessage; readonly log: Logger },
): Promise<OpenAuditFeed | undefined> {
  if (audit === undefined) return undefined;
  const [{ AuditFeed }, { AuditTally }, { auditTargets }] = await Promise.all([
    import('../observability/audit/audit-feed.ts'),
    import('../observability/audit/audit-tally.ts'),
    import('../observability/audit/audit-target.ts'),
  ]);
  const tally = new AuditTally(audit.memory, auditTargets(settings.audit));
  const feed = new AuditFeed({
    origin: () => ({ deploymentId: deploymentId(), rootUser: settings.root.user }),
    tally,
    send: (lines) => send({ kind: 'audit', lines }),
    log,
  });
  events.subscribe((finished) => feed.take(finished));
  return { flush: () => feed.flush(), sums: () => tally.sums() };
}

/**
 * The live trace of requests for `mc admin trace`, over all threads. A thread records its requests only while a client follows the trace.
 * The client is connected to one thread: the main thread counts the clients (`tracing`) and notifies all threads (`trace`).
 */
export class RequestTraces {
  readonly #events: RequestEvents;
  readonly #ring: LineRing;
  readonly #node: () => string;
  #unsubscribe: (() => void) | undefined;

  constructor(events: RequestEvents, ring: LineRing, node: () => string) {
    this.#events = events;
    this.#ring = ring;
    this.#node = node;
  }

  /** Starts or stops recording the requests of this thread. */
  set(on: boolean): void {
    if (on) {
      const write = (line: object) => this.#ring.append(JSON.stringify(line));
      this.#unsubscribe ??= this.#events.subscribe((finished) => write(traceLine(finished, this.#node())));
    } else {
      this.#unsubscribe?.();
      this.#unsubscribe = undefined;
    }
  }

  async *follow(signal: AbortSignal, watching: (watchers: 1 | -1) => void): AsyncGenerator<FollowedLines, void> {
    const from = this.#ring.newest();
    watching(1);
    try {
      yield* followLines(this.#ring, from, signal);
    } finally {
      watching(-1);
    }
  }
}

/** Makes the access logs of this thread. The caller starts them when the stores are open. */
export function openAccessLogs(
  { settings }: Pick<ThreadOptions, 'settings'>,
  {
    objects,
    records,
  }: { readonly objects: Pick<ObjectLayer, 'deliverObject'>; readonly records: Pick<RecordStore, 'scan'> },
  { events, log }: { readonly events: RequestEvents; readonly log: Logger },
): AccessLogs {
  return new AccessLogs({
    events,
    objects,
    loggings: () => readLoggings(records),
    region: settings.region,
    log,
    clock: Date.now,
    random: randomBytes,
    deliveryIntervalMs: settings.accessLogIntervalMs,
  });
}
