import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestListener, Server } from 'node:http';
import { BodyMemory } from '../../platform/body-memory.ts';
import { isExhausted } from '../../platform/system-error.ts';
import { formatAddress } from '../../platform/listen.ts';
import type { Logger } from '../../platform/logger.ts';
import type { OtherServer, ServerProcess } from '../administration/services.ts';
import type { ConsoleServices } from '../console/services.ts';
import { createSourceFinder } from '../http/contract/source-address.ts';
import type { ReplicaFacts } from '../replicas/replica-registry.ts';
import type { RequestEvents } from '../http/contract/request.ts';
import type { TaskReport } from '../maintenance/background-tasks.ts';
import type { AuditTargetSums } from '../observability/audit/audit-tally.ts';
import { adminServices } from './admin-services.ts';
import { openSupport } from './open-support.ts';
import { openReplications } from './replications.ts';
import type { Services } from './services.ts';
import type { ThreadOptions } from './threads.ts';

/** The data that the background thread has when it can answer requests. */
export interface ConsoleStart {
  /** The S3 address. */
  readonly endpoint: string;
  readonly deploymentId: string;
  readonly events: RequestEvents;
  readonly others: () => readonly OtherServer[];
  readonly live: () => readonly ReplicaFacts[];
  readonly tasks: TaskReport;
  readonly process: ServerProcess;
  readonly auditSums: () => readonly AuditTargetSums[];
  /** The certificate of this server as PEM; undefined without TLS. */
  readonly certificate: () => Buffer | undefined;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
}

/**
 * Loads the console. Its modules are a third of the modules that a start loads, so S3 does not wait for them. Requests to the console do.
 */
export async function openConsole(
  options: ThreadOptions,
  services: Services,
  server: Server,
  known: ConsoleStart,
  log: Logger,
): Promise<{ readonly listener: RequestListener; readonly stop: () => Promise<void> }> {
  const { createConsole, createSessionS3, createSessionAdmin, openOperations } = await loaded(loadModules, log);
  const bodies = new BodyMemory(options.bodies);
  const { settings } = options;
  const { others } = known;
  const replications = openReplications(services, options.startedAt, known.stopping);
  const administration = {
    ...adminServices(options, services, { ...known, log }),
    others,
    remoteTargets: replications.targets,
    replicationBacklog: replications.backlog,
    support: openSupport(options, services, known),
  };
  const operations = openOperations(options, services, { ...known, administration }, log);
  const listener = createConsole({
    objects: services.objects,
    access: services.access,
    policies: services.policies,
    providers: services.providers,
    assumeRoleWithWebIdentity: services.assumeRoleWithWebIdentity,
    directory: services.directory,
    assumeRoleWithLdapIdentity: services.assumeRoleWithLdapIdentity,
    records: services.sealed,
    tasks: known.tasks,
    bodies,
    s3: createSessionS3({
      objects: services.objects,
      access: services.access,
      region: settings.region,
      clock: () => new Date(),
      customerKeysWithoutTls: settings.customerKeysWithoutTls,
      queryBudget: settings.queryBudget,
      notificationTargets: administration.notificationTargets ?? [],
      replications: replications.s3,
      auditEvents: known.events,
      bodies,
    }),
    admin: createSessionAdmin({ ...administration, process: known.process, stopping: known.stopping, bodies }),
    operations,
    events: known.events,
    findSource: createSourceFinder(settings.proxies),
    administration,
    settings: consoleSettings(options, server),
    clock: () => new Date(),
    log,
  });
  return { listener, stop: () => operations.stop() };
}

async function loadModules() {
  const { createConsole } = await import('../console/create-console.ts');
  const { createSessionS3 } = await import('../http/session-s3.ts');
  const { createSessionAdmin } = await import('../http/session-admin.ts');
  const { openOperations } = await import('./open-operations.ts');
  return { createConsole, createSessionS3, createSessionAdmin, openOperations };
}

/** Milliseconds. */
const retryMs = 1_000;

/** Loads modules. While the process has no descriptor or memory left it tries again, since S3 is served meanwhile. */
async function loaded<T>(load: () => Promise<T>, log: Logger): Promise<T> {
  for (;;) {
    try {
      return await load();
    } catch (error) {
      if (!isExhausted(error)) throw error;
      log.warn({ err: error }, 'the console waits for files or memory; raise the limits of the process (ulimit -n)');
      await sleep(retryMs, undefined, { ref: false });
    }
  }
}

function consoleSettings({ settings, tls }: ThreadOptions, server: Server): ConsoleServices['settings'] {
  const { browser } = settings;
  const bound = server.address();
  const everywhere = ['0.0.0.0', '::'];
  const ownUrl =
    bound === null || typeof bound === 'string' || everywhere.includes(bound.address)
      ? undefined
      : `${tls === undefined ? 'http' : 'https'}://${formatAddress(bound)}`;
  return {
    ...(browser.redirectUrl === undefined ? {} : { browserUrl: browser.redirectUrl }),
    redirectHosts: browser.redirectHosts,
    ...(ownUrl === undefined ? {} : { ownUrl }),
    sessionDurationMs: browser.sessionMs,
    ...(settings.serverUrl === undefined ? {} : { s3Url: settings.serverUrl }),
    region: settings.region,
  };
}
