import { BodyMemory } from '../../platform/body-memory.ts';
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { Server as TlsServer } from 'node:tls';
import { Connections } from '../../platform/connections.ts';
import { formatAddress, listen } from '../../platform/listen.ts';
import type { Logger } from '../../platform/logger.ts';
import { hasKeys } from '../../platform/settings/server-settings.ts';
import { applyTlsMaterial, watchTlsFiles } from '../../platform/tls/reloading-context.ts';
import type { WaitsFor } from '../../protocol/waits-for.ts';
import type { OtherServer } from '../administration/services.ts';
import type { ReplicasView } from '../replicas/replicas.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { openAuditFeed } from './request-observers.ts';
import { createSourceFinder } from '../http/contract/source-address.ts';
import { RequestEvents } from '../http/contract/request.ts';
import { deploymentOf, joinReplicas } from './thread-stores.ts';
import { watchClock } from './clock-watch.ts';
import { TaskReport } from '../maintenance/background-tasks.ts';
import { setHearing } from './heard-events.ts';
import { runEventDelivery } from './event-delivery.ts';
import { runReplication } from './replication-delivery.ts';
import { runUserChecks, runPeriodicTasks } from './periodic-tasks.ts';
import { createSealingLoop, warnAboutPolicies } from './startup-tasks.ts';
import { waitForDependencies, starting, type Waiting } from './wait-for-dependencies.ts';
import { openServices, type Services } from './services.ts';
import type { Role, SendMessage, ThreadOptions } from './threads.ts';
import { createUsageReader } from '../observability/usage/usage-record.ts';

/** The time for the head of a request, in milliseconds. */
const headersTimeout = 60_000;

/** A client without credentials sees these words. The reason contains addresses, so it is only in the log. */
const consoleReasons: Readonly<Record<WaitsFor, string>> = {
  start: 'it is starting',
  database: 'it waits for its database',
  bodies: 'it waits for the store of its bodies',
  'key-service': 'it waits for the key service',
  'default-key': 'it waits for its key at the key service',
};

/**
 * Starts the background thread. It waits for the stores and the key service for all threads, runs the periodic tasks, and serves the
 * console, so that uploads there take no time from S3. With several servers it tracks the others.
 */
export async function startBackground(options: ThreadOptions, log: Logger, send: SendMessage): Promise<Role> {
  const { settings } = options;
  const services = await openServices(options, { main: log, providers: log, people: log });
  const stopped = new AbortController();
  let console: Promise<RequestListener> | undefined;
  let periodicTasks: ReturnType<typeof runPeriodicTasks> | undefined;
  let userChecks: ReturnType<typeof runUserChecks> | undefined;
  let eventDelivery: ReturnType<typeof runEventDelivery> | undefined;
  let replication: ReturnType<typeof runReplication> | undefined;
  let clockWatch: ReturnType<typeof watchClock> | undefined;
  let { waitsFor } = starting;
  let deployment = '';
  const events = new RequestEvents();
  const audit = await openAuditFeed(options, events, { deploymentId: () => deployment, send, log });
  const onRequest: RequestListener = (request, response) => {
    connections.began(request.socket, response);
    if (console !== undefined) return void passToConsole(console, request, response, log);
    response.writeHead(503, { 'content-type': 'text/plain; charset=utf-8', 'retry-after': '5' });
    return response.end(`Coffer is not ready: ${consoleReasons[waitsFor]}\n`);
  };
  const tls =
    options.tls === undefined
      ? undefined
      : await watchTlsFiles({ ...options.tls, log: log.child({}, { level: 'error' }) }, (material) => {
          if (server instanceof TlsServer) applyTlsMaterial(server, material);
        });
  const timeouts = { requestTimeout: 0, headersTimeout };
  const server: Server =
    tls === undefined
      ? createServer(timeouts, onRequest)
      : createHttpsServer({ ...timeouts, ...tls.current }, onRequest);
  const connections = new Connections(server);

  const endpoint = Promise.withResolvers<string>();
  let address = '';
  const eventSource = () => ({
    region: settings.region,
    endpoint: settings.serverUrl ?? address,
    deploymentId: deployment,
  });
  const replicas = joinReplicas(options, services, log, (view) => {
    send({ kind: 'replicas', view });
    sealing.onReplicasChange(view);
  });
  const tasks = new TaskReport({ records: services.stores.records, random: randomBytes });
  const sealing = createSealingLoop(services, log, tasks);

  const attempt = async () => {
    await services.stores.openRemote();
    const deploymentId = await deploymentOf(options, services);
    if (hasKeys(settings)) await services.keys.check();
    await replicas.join({
      id: options.replica,
      endpoint: await endpoint.promise,
      version: packageJson.version,
      startedAt: options.startedAt,
      keyService: hasKeys(settings),
    });
    await sealing.start(replicas.view());
    return deploymentId;
  };
  const onWaiting = (waiting: Waiting) => {
    waitsFor = waiting.waitsFor;
    send({ kind: 'waiting', ...waiting });
  };
  void waitForDependencies(attempt, { log, signal: stopped.signal, onWaiting }).then(
    (deploymentId) => send({ kind: 'dependencies-ready', deploymentId }),
    (error: unknown) => {
      if (stopped.signal.aborted) return;
      log.error({ err: error }, 'the stores cannot be used');
      send({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
    },
  );

  return {
    async handle(message) {
      switch (message.kind) {
        case 'listen': {
          const bound = await listen(server, message.address, { setting: '--console-address' });
          return send({ kind: 'listening', host: bound.address, port: bound.port });
        }
        case 'endpoint':
          endpoint.resolve(message.endpoint);
          address = `${options.tls === undefined ? 'http' : 'https'}://${message.endpoint}`;
          return undefined;
        case 'prepare':
          deployment = message.deploymentId;
          void services.providers.start();
          return send({ kind: 'prepared' });
        case 'serve':
          periodicTasks = runPeriodicTasks(services, replicas.lease, log, settings, tasks);
          userChecks = runUserChecks(
            services.people.userStatusCheck,
            replicas.lease,
            log,
            settings.personCheck.intervalMs,
            tasks,
          );
          eventDelivery = runEventDelivery(services, replicas.lease, log, {
            settings: settings.notify,
            source: eventSource,
          });
          replication = runReplication(services, replicas.lease, log);
          clockWatch = watchClock({ records: services.records, log });
          void replicas.work();
          void tasks
            .run('policies', 0, () =>
              warnAboutPolicies({ identities: services.access.identities, objects: services.objects }, log),
            )
            .catch((error: unknown) => log.error({ err: error }, 'the stored policies could not be looked through'));
          if (settings.browser.enabled) {
            const known = {
              endpoint: await endpoint.promise,
              deploymentId: deployment,
              others: () => otherServers(replicas.view(), options),
              tasks,
            };
            console = openConsole(options, services, server, { ...known, events }, log);
          }
          return send({ kind: 'serving' });
        case 'hear':
          setHearing(services, options, message.on);
          return undefined;
        case 'waiting':
        case 'replicas':
        case 'announce':
        case 'trace':
        case 'freeze':
        case 'acknowledged':
        case 'refuse':
          return undefined;
        case 'unready':
          connections.startClosing();
          return undefined;
        case 'stop':
          stopped.abort();
          await connections.drain(message.drainMs);
          audit?.flush();
          await Promise.all([
            periodicTasks?.stop(),
            userChecks?.stop(),
            clockWatch?.stop(),
            eventDelivery?.stop(),
            replication?.stop(),
          ]);
          await replicas.close();
          tls?.close();
          await services.close();
          return send({ kind: 'stopped' });
        default:
          return message satisfies never;
      }
    },
  };
}

async function passToConsole(
  console: Promise<RequestListener>,
  request: IncomingMessage,
  response: ServerResponse,
  log: Logger,
): Promise<void> {
  try {
    (await console)(request, response);
  } catch (error) {
    log.error({ err: error }, 'the console cannot answer');
    response.destroy();
  }
}

interface StartState {
  /** The S3 address. */
  readonly endpoint: string;
  readonly deploymentId: string;
  readonly events: RequestEvents;
  readonly others: () => readonly OtherServer[];
  readonly tasks: TaskReport;
}

function otherServers({ live }: ReplicasView, { replica }: ThreadOptions): readonly OtherServer[] {
  return live.filter(({ id }) => id !== replica);
}

/**
 * Loads the console. Its modules are a third of the modules that a start loads, so S3 does not wait for them. Requests to the console do.
 */
async function openConsole(
  options: ThreadOptions,
  services: Services,
  server: Server,
  known: StartState,
  log: Logger,
): Promise<RequestListener> {
  const { createConsole } = await import('../console/create-console.ts');
  const { createSessionS3 } = await import('../http/session-s3.ts');
  const bodies = new BodyMemory(options.bodies);
  const { settings, tls } = options;
  const { browser } = settings;
  const bound = server.address();
  const everywhere = ['0.0.0.0', '::'];
  const ownUrl =
    bound === null || typeof bound === 'string' || everywhere.includes(bound.address)
      ? undefined
      : `${tls === undefined ? 'http' : 'https'}://${formatAddress(bound)}`;
  return createConsole({
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
      bodies,
    }),
    events: known.events,
    findSource: createSourceFinder(settings.proxies),
    administration: {
      access: services.access,
      identities: services.access.identities,
      temporary: services.access.temporary,
      root: { user: settings.root.user },
      server: {
        deploymentId: known.deploymentId,
        version: packageJson.version,
        region: settings.region,
        endpoint: known.endpoint,
        dataFolder: options.stores.place,
        startedAt: new Date(options.startedAt),
      },
      usage: createUsageReader(services.records),
      others: known.others,
      space: () => services.blobs.space(),
      identityProviders: services.people.identityProviders,
      ...(services.keyAdministration === undefined ? {} : { keys: services.keyAdministration }),
      directory: services.directory,
    },
    settings: {
      ...(browser.redirectUrl === undefined ? {} : { browserUrl: browser.redirectUrl }),
      redirectHosts: browser.redirectHosts,
      ...(ownUrl === undefined ? {} : { ownUrl }),
      sessionDurationMs: browser.sessionMs,
      ...(settings.serverUrl === undefined ? {} : { s3Url: settings.serverUrl }),
      region: settings.region,
    },
    clock: () => new Date(),
    log,
  });
}
