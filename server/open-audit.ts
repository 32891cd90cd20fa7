import type { Logger } from '../platform/logger.ts';
import type { ServerSettings } from '../platform/settings/server-settings.ts';
import packageJson from '../package.json' with { type: 'json' };
import type { AuditLog } from './observability/audit/audit-log.ts';

/** The audit log of the process. */
export interface ProcessAudit extends AuditLog {
  /** Where threads count. */
  readonly memory: SharedArrayBuffer;
  belongsTo(deploymentId: string): void;
}

/**
 * Opens what audit entries go to; undefined, and nothing loaded, where they go nowhere. The main thread writes them: it has nothing else
 * to do, hears the signals, and is the last to end. Rejects with `AuditTargetError`.
 */
export async function openAudit({ audit: settings }: ServerSettings, log: Logger): Promise<ProcessAudit | undefined> {
  if (settings.file === undefined && settings.webhooks.length === 0) return undefined;
  const { openAuditLog } = await import('./observability/audit/audit-log.ts');
  const { auditTargets } = await import('./observability/audit/audit-target.ts');
  const { auditTallyMemory } = await import('./observability/audit/audit-tally.ts');
  const targets = auditTargets(settings);
  const memory = auditTallyMemory(targets.length);
  let deployment = '';
  const sender = { deploymentId: () => deployment, version: packageJson.version };
  const opened = await openAuditLog({ settings, memory, sender, log });
  log.info({ event: 'audit', targets }, `audit entries go to ${targets.join(', ')}`);
  return {
    ...opened,
    memory,
    belongsTo(deploymentId) {
      deployment = deploymentId;
    },
  };
}
