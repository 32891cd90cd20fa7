import { createServer } from 'node:net';
import { listen, type ListenAddress } from '../../platform/http/listen.ts';
import { lineRingMemory } from '../shared-memory/line-ring.ts';
import { droppedLinesMemory } from '../../platform/output/log-output.ts';
import type { LiveMemory } from './threads.ts';
import type { Logger } from '../../platform/output/logger.ts';
import type { ServerSettings } from '../../platform/settings/server-settings.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { AuditLog } from '../observability/audit/audit-log.ts';

/** Node's default: for files, host names and other calls of the system. */
const FOR_FILES = 4;
/** Each store handle has at most one writer that holds LMDB's lock while it waits for its thread, and one that waits for the lock. */
const FOR_WRITERS = 2;

/**
 * Sets the size of libuv's thread pool, unless the environment does. LMDB's writers block pool threads while they wait for each other: with
 * Node's four, all file reads would wait for them. The process must call it before its first access to the file system.
 *
 * @see https://docs.libuv.org/en/v1.x/threadpool.html
 */
export function sizeThreadPool(env: NodeJS.ProcessEnv, cores: number): void {
  // One thread for each core serves HTTP, and one runs in the background.
  env['UV_THREADPOOL_SIZE'] ??= String(FOR_FILES + FOR_WRITERS * (cores + 1));
}

/**
 * Binds the port for a moment, without `reusePort`. This fails if another program listens on it: the HTTP threads would otherwise silently
 * share the port with the threads of another server. Port 0 becomes the free port.
 */
export async function claimPort(address: ListenAddress, setting: string): Promise<ListenAddress> {
  const probe = createServer();
  const { port } = await listen(probe, address, { setting });
  await new Promise((resolve) => {
    probe.close(resolve);
  });
  return { ...address, port };
}

/** Sizes in bytes: some thousand log lines, and as many requests with their headers. The system allocates memory when it is written. */
const sizes = { log: 512 * 1024, requests: 2 * 1024 * 1024, events: 4 * 1024 * 1024 } as const;

export function liveMemory(): LiveMemory {
  return {
    log: lineRingMemory(sizes.log),
    droppedLines: droppedLinesMemory(),
    requests: lineRingMemory(sizes.requests),
    events: lineRingMemory(sizes.events),
  };
}

/** The audit log of the process. */
interface ProcessAudit extends AuditLog {
  /** The shared counters of the threads. */
  readonly memory: SharedArrayBuffer;
  belongsTo(deploymentId: string): void;
}

/**
 * Opens the targets of the audit log; without any it loads nothing and returns undefined. The main thread writes the entries: it is idle,
 * gets the signals, and ends last.
 *
 * @throws ProgramError
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
