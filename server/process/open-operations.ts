import { randomBytes, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Logger } from '../../platform/output/logger.ts';
import type { AdminServices } from '../administration/services.ts';
import { keyServiceState } from '../administration/keys.ts';
import { directoryState } from '../admin/info.ts';
import type { OperationsServices } from '../console/services.ts';
import { readBackgroundTasks } from '../maintenance/background-tasks.ts';
import { readTaskProgress } from '../maintenance/task-progress.ts';
import { pausableTasks, taskPauses } from '../maintenance/task-pauses.ts';
import { notificationQueues } from '../notifications/notification-queues.ts';
import type { HealthFacts } from '../observability/health/health-checks.ts';
import { MetricsHistory, stepMs } from '../observability/metrics/metrics-history.ts';
import { RequestCounters } from '../observability/metrics/request-counters.ts';
import { UsageHistory } from '../observability/usage/usage-history.ts';
import { RemoteTargets } from '../replication/remote-targets.ts';
import { replicationHealth } from '../replication/replication-health.ts';
import { repeated } from '../cluster/repeated.ts';
import { operationNames } from '../s3/routes.ts';
import { readUnpromoted, unpromotedState } from '../store/promotion.ts';
import { isReadOnly } from '../store/commits.ts';
import { isStoreError, isStoreUnavailable } from '../store/store-error.ts';
import type { ConsoleStart } from './open-console.ts';
import type { Services } from './services.ts';
import type { ThreadOptions } from './threads.ts';

interface Operations extends OperationsServices {
  /** Writes the metrics that were not written yet. */
  stop(): Promise<void>;
}

/** Milliseconds that a stop waits for the last write. */
const stopMs = 1_000;

/** Opens what the pages about operations show, and takes the metrics of this server from now on. */
export function openOperations(
  options: ThreadOptions,
  services: Services,
  known: ConsoleStart & { readonly administration: Omit<AdminServices, 'authenticate'> },
  log: Logger,
): Operations {
  const { settings, counters } = options;
  const { records } = services.stores;
  const sums = new RequestCounters(counters.memory, counters.thread, operationNames);
  const history = new MetricsHistory({
    records,
    random: randomBytes,
    // Pods listen on every address, so their host names identify them.
    server: () => known.endpoint.replace(/^(?:0\.0\.0\.0|\[::\]):/, `${hostname()}:`),
    read: () => {
      const { user, system } = process.cpuUsage();
      const cpuSeconds = (user + system) / 1_000_000;
      return Promise.resolve({ requests: sums.sums(), cpuSeconds, residentBytes: process.memoryUsage.rss() });
    },
  });
  const { usage } = known.administration;
  const usageHistory = new UsageHistory({
    records,
    random: randomBytes,
    usage: usage ?? { last: () => Promise.resolve(undefined) },
  });
  const failed = (error: unknown) => {
    // A store that is away or read-only reports that itself, and the next step is in ten seconds.
    if (isStoreUnavailable(error) || isStoreError(error, 'outcome-unknown')) return;
    log.error({ err: error }, 'the history of the metrics could not be written');
  };
  const steps = repeated(stepMs, () => history.take(), failed);
  const days = repeated(60_000, () => usageHistory.take(), failed);
  return {
    history,
    usageHistory,
    facts: () => healthFacts(options, services, known),
    ...(settings.audit.file === undefined ? {} : { auditFile: settings.audit.file }),
    tasks: () => readBackgroundTasks(records),
    progress: () => readTaskProgress(records),
    pauses: taskPauses(records, { random: randomBytes }),
    pausable: pausableTasks,
    async stop() {
      await Promise.all([steps.stop(stopMs), days.stop(stopMs)]);
      await history.write().catch(failed);
    },
  };
}

/** The most damaged objects that are counted. */
const maxDamaged = 1_000;

async function healthFacts(
  { settings }: ThreadOptions,
  services: Services,
  known: ConsoleStart & { readonly administration: Omit<AdminServices, 'authenticate'> },
): Promise<HealthFacts> {
  const { records } = services.stores;
  const { server, maintenance } = known.administration;
  const here = { endpoint: server.endpoint, version: server.version };
  const unpromoted = await readUnpromoted(records);
  const [readOnly, space, damaged, keyService, directory, notifications, replication, tasks, certificates] =
    await Promise.all([
      isReadOnly(records),
      services.blobs.space(),
      maintenance?.quarantined(undefined, maxDamaged),
      keyServiceState(services.keyAdministration),
      directoryState(services.directory),
      notificationQueues(records, settings.notify),
      // The targets are sealed. The rest of the health is shown also while they cannot be opened.
      replicationHealth(records, new RemoteTargets(services.sealed)).catch(() => undefined),
      readBackgroundTasks(records),
      certificatesOf(settings, known),
    ]);
  return {
    now: Date.now(),
    version: server.version,
    servers: [here, ...known.others()],
    readOnly,
    unpromoted: unpromoted && unpromotedState(unpromoted),
    space,
    quarantined: damaged?.objects.length ?? 0,
    keyService,
    providers: services.providers.list.map(({ displayName, status }) =>
      status.kind === 'ready'
        ? { name: displayName }
        : { name: displayName, issue: status.issue?.message ?? 'it has not answered yet.' },
    ),
    directory,
    notifications,
    replication,
    tasks,
    certificates,
    audit: { targets: known.auditSums() },
  };
}

async function certificatesOf(
  { keyService }: ThreadOptions['settings'],
  { certificate }: ConsoleStart,
): Promise<HealthFacts['certificates']> {
  const own = certificate();
  const found = own === undefined ? [] : [{ name: 'the server', expires: expiryOf(own) }];
  const client = keyService?.client;
  if (client === undefined || client.kind === 'api-key') return found;
  const pem = await readFile(client.certFile).catch(() => undefined);
  return pem === undefined ? found : [...found, { name: 'the client of the key service', expires: expiryOf(pem) }];
}

function expiryOf(pem: Buffer): number {
  return new X509Certificate(pem).validToDate.getTime();
}
