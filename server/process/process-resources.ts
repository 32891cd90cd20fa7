import { createServer } from 'node:net';
import { listen, type ListenAddress } from '../../platform/listen.ts';
import { lineRingMemory } from '../../platform/line-ring.ts';
import type { LiveMemory } from './threads.ts';
import type { Logger } from '../../platform/logger.ts';
import type { ServerSettings } from '../../platform/settings/server-settings.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { AuditLog } from '../observability/audit/audit-log.ts';

/** Node's own number: for files, names and whatever else is asked of the system. */
const FOR_FILES = 4;
/** A store's handle may have one writer that holds LMDB's lock while it waits for its thread, and one that waits for the lock. */
const FOR_WRITERS = 2;

/**
 * Says how many threads wait on the disk for this process. LMDB's writers hold theirs while they wait for each other, and with Node's
 * four all reads of files would stand behind them. To be called before anything is asked of the file system; who set a number keeps it.
 *
 * @see https://docs.libuv.org/en/v1.x/threadpool.html
 */
export function sizeThreadPool(env: NodeJS.ProcessEnv, cores: number): void {
  // As many threads serve HTTP as there are cores, and one works in the background.
  env['UV_THREADPOOL_SIZE'] ??= String(FOR_FILES + FOR_WRITERS * (cores + 1));
}

/**
 * Binds the port alone for a moment, which fails while any other program listens on it: threads that share it by `reusePort` would
 * silently share it with another server's threads too. Port 0 becomes the port that was free.
 */
export async function claimPort(address: ListenAddress, setting: string): Promise<ListenAddress> {
  const probe = createServer();
  const { port } = await listen(probe, address, { setting });
  await new Promise((resolve) => {
    probe.close(resolve);
  });
  return { ...address, port };
}

/** Bytes: some thousand lines of the log, and as many requests with their headers. The system gives memory only where it is written. */
const sizes = { log: 512 * 1024, requests: 2 * 1024 * 1024 } as const;

export function liveMemory(): LiveMemory {
  return { log: lineRingMemory(sizes.log), requests: lineRingMemory(sizes.requests) };
}

/** The audit log of the process. */
interface ProcessAudit extends AuditLog {
  /** Where threads count. */
  readonly memory: SharedArrayBuffer;
  belongsTo(deploymentId: string): void;
}

/**
 * Opens what audit entries go to; undefined, and nothing loaded, where they go nowhere. The main thread writes them: it has nothing else
 * to do, hears the signals, and is the last to end. Rejects with `AuditError`.
 */
export async function openAudit({ audit: settings }: ServerSettings, log: Logger): Promise<ProcessAudit | undefined> {
  if (settings.file === undefined && settings.webhooks.length === 0) return undefined;
  const { openAuditLog } = await import('../observability/audit/audit-log.ts');
  const { auditTargets } = await import('../observability/audit/audit-target.ts');
  const { auditTallyMemory } = await import('../observability/audit/audit-tally.ts');
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
