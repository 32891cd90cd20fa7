import type { Logger } from '../platform/logger.ts';
import type { RequestEvents } from './access/request-events.ts';
import type { AuditTargetSums } from './observability/audit/audit-tally.ts';
import type { Tell, ThreadOptions } from './thread-messages.ts';

export interface OpenAuditFeed {
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
    import('./observability/audit/audit-feed.ts'),
    import('./observability/audit/audit-tally.ts'),
    import('./observability/audit/audit-target.ts'),
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
