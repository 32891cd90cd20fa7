import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestListener, Server } from 'node:http';
import { BodyMemory } from '../streams/body-memory.ts';
import { isExhausted } from '../../platform/errors/system-error.ts';
import { formatAddress } from '../../platform/http/listen.ts';
import type { Logger } from '../../platform/output/logger.ts';
import type { ConsoleServices } from '../console/services.ts';
import { createSourceFinder } from '../http/contract/source-address.ts';
import type { RequestEvents } from '../http/contract/request.ts';
import type { TaskReport } from '../maintenance/background-tasks.ts';
import { type ApiStart, apiServices } from './api-services.ts';
import type { Services } from './services.ts';
import type { ThreadOptions } from './threads.ts';

/** The data that the background thread has when it can answer requests. */
export interface ConsoleStart extends ApiStart {
  readonly events: RequestEvents;
  readonly tasks: TaskReport;
  /** The certificate of this server as PEM; undefined without TLS. */
  readonly certificate: () => Buffer | undefined;
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
  const { administration, s3 } = apiServices(options, services, known, log);
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
    s3: createSessionS3({ ...s3, auditEvents: known.events, bodies }),
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
  const { createSessionS3 } = await import('./session-s3.ts');
  const { createSessionAdmin } = await import('./session-admin.ts');
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
    hasRegion: settings.regionEnforced,
  };
}
