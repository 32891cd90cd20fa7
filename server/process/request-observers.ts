import type { Logger } from '../../platform/logger.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { RequestHandler, RequestEvents } from '../http/contract/request.ts';
import type { AssumeRoleWithWebIdentity } from '../sts/assume-role-with-web-identity.ts';
import { traceSettings } from '../observability/tracing/trace-settings.ts';
import type { Stores } from '../observability/tracing/traced-stores.ts';
import type { AuditTargetSums } from '../observability/audit/audit-tally.ts';
import type { Tell, ThreadOptions } from './threads.ts';
import { followLines, type FollowedLines, type LineRing } from '../../platform/line-ring.ts';
import { traceLine } from '../admin/trace-line.ts';

/** What of a thread is traced. */
export interface RequestTracing {
  stores(stores: Stores): Stores;
  handler(inner: RequestHandler, events: RequestEvents): RequestHandler;
  assumeRole(assume: AssumeRoleWithWebIdentity): AssumeRoleWithWebIdentity;
  close(): Promise<void>;
}

/** Milliseconds that the last spans get. */
const lastMs = 5_000;

/** By the standard variables of OpenTelemetry; undefined, and none of its packages loaded, where they ask for nothing. */
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
  /** Hands on what is there, now. */
  flush(): void;
  /** Of all threads. */
  sums(): readonly AuditTargetSums[];
}

/** Has what happens in this thread written to the audit log; undefined, and nothing loaded, where there is none. */
export async function openAuditFeed(
  { audit, settings }: ThreadOptions,
  events: RequestEvents,
  { deploymentId, tell, log }: { readonly deploymentId: () => string; readonly tell: Tell; readonly log: Logger },
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
    send: (lines) => tell({ kind: 'audit', lines }),
    log,
  });
  events.subscribe((finished) => feed.take(finished));
  return { flush: () => feed.flush(), sums: () => tally.sums() };
}

/**
 * The requests of all threads, for who wants to see them. A thread writes down its own only while somebody looks on, whichever thread
 * they ask: the main thread counts them (`tracing`) and tells all (`trace`).
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

  /** Whether this thread writes down its requests. */
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
