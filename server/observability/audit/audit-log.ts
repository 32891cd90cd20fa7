import { fileErrorReason } from '../../../platform/errors/system-error.ts';
import { auditTargets, type AuditLogger, type AuditReport, type AuditTarget } from './audit-target.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { AuditSettings, AuditWebhookSettings } from '../../../platform/settings/audit-settings.ts';
import { AuditTally } from './audit-tally.ts';
import { FileTarget } from './file-target.ts';
import { FolderLines, MemoryLines, type WaitingLines } from './waiting-lines.ts';
import { postEntries, type Sender, WebhookTarget } from './webhook-target.ts';

/** The maximum of bytes that wait for one address, whatever their number of entries. */
const maxBytes = { memory: 64 * 1024 * 1024, folder: 1024 * 1024 * 1024 } as const;

/** The audit targets of a process, in its main thread. */
export interface AuditLog {
  take(lines: readonly string[]): void;
  reopen(): void;
  close(withinMs: number): Promise<void>;
}

interface AuditLogOptions {
  readonly settings: AuditSettings;
  readonly memory: SharedArrayBuffer;
  readonly sender: Sender;
  readonly log: AuditLogger;
}

/** Rejects with `ProgramError` where a file or a folder cannot be written. */
export async function openAuditLog({ settings, memory, sender, log }: AuditLogOptions): Promise<AuditLog> {
  const names = auditTargets(settings);
  const tally = new AuditTally(memory, names);
  const reportOf = (name: string): AuditReport => {
    const at = names.indexOf(name);
    return {
      sent: (entries) => tally.sent(at, entries),
      dropped: (entries) => tally.dropped(at, entries),
      waiting: (entries) => tally.waiting(at, entries),
      tried: (isTaken) => tally.tried(at, isTaken),
    };
  };
  const { file, webhooks } = settings;
  const targets: AuditTarget[] = [];
  if (file !== undefined) {
    const opened = FileTarget.open({ path: file, report: reportOf('file'), log });
    targets.push(await usable(opened, `SVC_AUDIT_FILE: ${file} cannot be written`));
  }
  for (const webhook of webhooks) {
    const name = `webhook:${webhook.id}`;
    const report = reportOf(name);
    const queue = await openQueue(webhook, name, report, log);
    report.waiting(queue.count);
    targets.push(new WebhookTarget({ ...webhook, name, post: postEntries(webhook, sender), queue, report, log }));
  }
  return {
    take(lines) {
      for (const line of lines) {
        tally.arrived(line.length);
        for (const target of targets) target.take(line);
      }
    },
    reopen() {
      for (const target of targets) target.reopen();
    },
    async close(withinMs) {
      await Promise.all(targets.map((target) => target.close(withinMs)));
    },
  };
}

async function openQueue(
  { queueFolder, queueSize, id }: AuditWebhookSettings,
  name: string,
  report: AuditReport,
  log: AuditLogger,
): Promise<WaitingLines> {
  if (queueFolder === undefined) return new MemoryLines({ lines: queueSize, bytes: maxBytes.memory });
  const opened = FolderLines.open(queueFolder, {
    bounds: { lines: queueSize, bytes: maxBytes.folder },
    onDropped(lines, error) {
      report.dropped(lines);
      const fields = { event: 'audit-lost', target: name, entries: lines, err: error };
      log.error(fields, `${lines} audit entries for ${name} are lost: they cannot be written to ${queueFolder}`);
    },
  });
  const variable = `SVC_AUDIT_WEBHOOK_QUEUE_DIR${id === '_' ? '' : `_${id}`}`;
  return usable(opened, `${variable}: the folder ${queueFolder} cannot be used`);
}

async function usable<T>(opening: Promise<T>, what: string): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    throw new ProgramError('settings', `${what}: ${fileErrorReason(error)}`, {
      cause: error,
    });
  }
}
