import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { Server as TlsServer } from 'node:tls';
import { Connections } from '../../platform/http/connections.ts';
import { answerHalfClosed, halfClosed } from '../../platform/http/half-closed.ts';
import { openLineRing } from '../shared-memory/line-ring.ts';
import { listen } from '../../platform/http/listen.ts';
import type { Logger } from '../../platform/output/logger.ts';
import { hasKeys } from '../../platform/settings/server-settings.ts';
import { applyTlsMaterial, watchTlsFiles } from '../../platform/tls/reloading-context.ts';
import { describeWait } from '../../protocol/waits-for.ts';
import type { ServerProcess } from '../administration/services.ts';
import { readFormerRoot } from '../auth/root-credentials.ts';
import { agreementOf } from '../cluster/agreement.ts';
import { othersThan } from '../cluster/membership.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { openConsole } from './open-console.ts';
import { openAuditFeed, RequestTraces } from './request-observers.ts';
import { BucketQuestions } from '../observability/metrics/bucket-list.ts';
import { RequestEvents } from '../http/contract/request.ts';
import { ProfileRequests } from './thread-profiles.ts';
import { deploymentOf, joinCluster } from './thread-stores.ts';
import { watchBucketList } from './bucket-list-watch.ts';
import { watchClock } from './clock-watch.ts';
import { watchKeys } from './watch-keys.ts';
import { watchStores } from './store-watch.ts';
import { ProcessorShare } from '../outbox/processor-share.ts';
import { pace } from '../maintenance/pace.ts';
import { TaskReport } from '../maintenance/background-tasks.ts';
import { setHearing } from './heard-events.ts';
import { runEventDelivery, runReplication } from './deliveries.ts';
import { runSites } from './sites.ts';
import { runCheckpoints } from './checkpoints.ts';
import { runFormatSwitch } from './format-switch.ts';
import { servesOtherTenant } from '../store/other-store.ts';
import { unpromotedState } from '../store/promotion.ts';
import { runPeriodicTasks } from './periodic-tasks.ts';
import { runUserChecks } from './user-checks.ts';
import { createSealingLoop, warnAboutPolicies } from './startup-tasks.ts';
import { waitForDependencies, starting, type Waiting } from './wait-for-dependencies.ts';
import { openServices, type Services } from './services.ts';
import type { Role, SendMessage, ThreadOptions } from './threads.ts';

/** The time for the head of a request, in milliseconds. */
const headersTimeout = 60_000;

/**
 * Starts the background thread. It waits for the stores and the key service for all threads, runs the periodic tasks, and serves the
 * console, so that uploads there take no time from S3. With several servers it tracks the others.
 */
export async function startBackground(options: ThreadOptions, log: Logger, send: SendMessage): Promise<Role> {
  const { settings } = options;
  const services = await openServices(options, { main: log, providers: log, userStatus: log });
  const stopped = new AbortController();
  let console: Promise<RequestListener> | undefined;
  let consoleTasks: Promise<() => Promise<void>> | undefined;
  let periodicTasks: ReturnType<typeof runPeriodicTasks> | undefined;
  let userChecks: ReturnType<typeof runUserChecks> | undefined;
  let eventDelivery: ReturnType<typeof runEventDelivery> | undefined;
  let replication: ReturnType<typeof runReplication> | undefined;
  let sites: ReturnType<typeof runSites> | undefined;
  let checkpoints: ReturnType<typeof runCheckpoints> | undefined;
  let formatSwitch: ReturnType<typeof runFormatSwitch> | undefined;
  let clockWatch: ReturnType<typeof watchClock> | undefined;
  let keyWatch: ReturnType<typeof watchKeys> | undefined;
  let bucketList: ReturnType<typeof watchBucketList> | undefined;
  let storeFault: Waiting | undefined;
  let storeWatch: ReturnType<typeof watchStores> | undefined;
  let { waitsFor } = starting;
  let deployment = '';
  const events = new RequestEvents();
  const reads = pace(settings.scanner.recordsPerSecond);
  const share = new ProcessorShare();
  const audit = await openAuditFeed(options, events, { deploymentId: () => deployment, send, log });
  const onRequest: RequestListener = (request, response) => {
    connections.began(request.socket, response);
    if (console !== undefined) return void passToConsole(console, request, response, log);
    response.writeHead(503, { 'content-type': 'text/plain; charset=utf-8', 'retry-after': '5' });
    // The reason contains addresses, so it is only in the log.
    return response.end(`Coffer is not ready: ${describeWait(waitsFor)}\n`);
  };
  const traces = new RequestTraces(events, openLineRing(options.live.requests), () =>
    address.replace(/^https?:\/\//, ''),
  );
  const profiles = new ProfileRequests(send);
  let acted = Promise.withResolvers<void>();
  const serverProcess: ServerProcess = {
    act(action) {
      send({ kind: 'service', action });
      return acted.promise;
    },
    log: openLineRing(options.live.log),
    profile: (kinds, durationMs) => profiles.request(kinds, durationMs),
    trace: (signal) => traces.follow(signal, (watchers) => send({ kind: 'tracing', watchers })),
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
      : createHttpsServer({ ...timeouts, ...halfClosed, ...tls.current }, onRequest);
  answerHalfClosed(server);
  const connections = new Connections(server);

  const endpoint = Promise.withResolvers<string>();
  const requestsEnded = Promise.withResolvers<void>();
  let address = '';
  const eventSource = () => ({
    region: settings.region,
    endpoint: settings.serverUrl ?? address,
    deploymentId: deployment,
  });
  const cluster = joinCluster(options, services, log, (view) => {
    send({ kind: 'cluster', view });
    sealing.onReplicasChange(view);
  });
  const tasks = new TaskReport({ records: services.stores.records, random: randomBytes });
  const sealing = createSealingLoop(services, log, tasks);

  let joined: Awaited<ReturnType<typeof deploymentOf>> | undefined;
  const agreement = async (deploymentId: string) => {
    const { root, formerRootFile, region } = settings;
    const formerRoot = formerRootFile === undefined ? undefined : await readFormerRoot(formerRootFile);
    return agreementOf({ root, region, ...(formerRoot !== undefined && { formerRoot }) }, deploymentId);
  };
  const attempt = async () => {
    await services.stores.openRemote();
    const facts = {
      id: options.serverId,
      endpoint: await endpoint.promise,
      version: packageJson.version,
      startedAt: options.startedAt,
      keyService: hasKeys(settings),
      format: settings.recordFormat,
    };
    const checkKeys = async () => {
      if (hasKeys(settings)) await services.keys.check();
    };
    joined = await deploymentOf(options, services, { others: () => cluster.others(facts), checkKeys });
    services.stores.belongTo(joined.id);
    await checkKeys();
    await cluster.join({
      ...facts,
      ...(joined.tenant !== undefined && { tenant: joined.tenant }),
      ...(services.stores.shared && { agreement: await agreement(joined.id) }),
    });
    await sealing.start(cluster.view());
    return joined.id;
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
          warnUnpromoted(joined, log);
          warnOtherTenant(joined, log);
          periodicTasks = runPeriodicTasks(services, {
            lease: cluster.lease,
            log,
            settings,
            tasks,
            reads,
            deployment: joined,
          });
          formatSwitch = runFormatSwitch(services, cluster, log);
          checkpoints = joined && runCheckpoints(services, cluster.lease, log, tasks, joined.marker);
          userChecks = runUserChecks(
            services.federation.userStatusCheck,
            cluster.lease,
            log,
            settings.userStatusCheck.intervalMs,
            tasks,
          );
          eventDelivery = runEventDelivery(services, cluster.lease, log, {
            settings: settings.notify,
            source: eventSource,
            share,
          });
          replication = runReplication(services, cluster.lease, log, { reads, share });
          sites = runSites(services, cluster.lease, log, { region: settings.region, self: deployment });
          storeWatch = watchStores({
            checks: services.stores.checks,
            log,
            onChange: (fault) => {
              storeFault = fault;
              send({ kind: 'store-fault', fault });
            },
          });
          bucketList = watchBucketList({
            buckets: () => services.objects.listBuckets(),
            questions: new BucketQuestions(options.counters.buckets),
            onList: (list) => send({ kind: 'bucket-list', list }),
          });
          clockWatch = watchClock({ records: services.records, log });
          keyWatch = keyWatchOf(services, { lease: cluster.lease, log, tasks });
          void cluster.work();
          void tasks
            .run('policies', 0, () =>
              warnAboutPolicies({ identities: services.access.identities, objects: services.objects }, log),
            )
            .catch((error: unknown) => log.error({ err: error }, 'the stored policies could not be looked through'));
          if (settings.browser.enabled) {
            const known = {
              endpoint: await endpoint.promise,
              deploymentId: deployment,
              others: () => othersThan(options.serverId, cluster.view()),
              live: () => cluster.view().live,
              tasks,
              auditSums: () => audit?.sums() ?? [],
              storeFault: () => storeFault,
              certificate: () => tls?.current.cert,
              stopping: stopped.signal,
            };
            const opened = openConsole(options, services, server, { ...known, events, process: serverProcess }, log);
            console = opened.then(({ listener }) => listener);
            consoleTasks = opened.then(({ stop }) => stop);
          }
          return send({ kind: 'serving' });
        case 'bucket-list-needed':
          bucketList?.ask();
          return undefined;
        case 'hear':
          setHearing(services, options, message.on);
          return undefined;
        case 'trace':
          traces.set(message.on);
          return undefined;
        case 'profiles':
          profiles.deliver(message);
          return undefined;
        case 'acknowledged':
          acted.resolve();
          acted = Promise.withResolvers();
          return undefined;
        case 'waiting':
        case 'cluster':
        case 'store-fault':
        case 'bucket-list':
        case 'announce':
        case 'freeze':
        case 'refuse':
          return undefined;
        case 'unready':
          connections.startClosing();
          return undefined;
        case 'requests-ended':
          return requestsEnded.resolve();
        case 'stop':
          stopped.abort();
          await connections.drain(message.drainMs);
          audit?.flush();
          await (
            await consoleTasks
          )?.();
          await Promise.all([
            periodicTasks?.stop(),
            userChecks?.stop(),
            checkpoints?.stop(),
            formatSwitch?.stop(),
            clockWatch?.stop(),
            keyWatch?.stop(),
            storeWatch?.stop(),
            bucketList?.stop(),
            eventDelivery?.stop(),
            replication?.stop(),
            sites?.stop(),
          ]);
          await cluster.endWork();
          await requestsEnded.promise;
          await cluster.close();
          tls?.close();
          await services.close();
          return send({ kind: 'stopped' });
        default:
          return message satisfies never;
      }
    },
  };
}

function warnUnpromoted(joined: Awaited<ReturnType<typeof deploymentOf>> | undefined, log: Logger): void {
  if (joined?.unpromoted === undefined) return;
  log.warn({ event: 'unpromoted' }, unpromotedState(joined.unpromoted));
}

function warnOtherTenant(joined: Awaited<ReturnType<typeof deploymentOf>> | undefined, log: Logger): void {
  if (joined?.otherTenant === undefined) return;
  log.warn({ event: 'other-tenant' }, servesOtherTenant(joined.id, joined.otherTenant));
}

/** Returns undefined without a key service. */
function keyWatchOf(
  { keyAdministration: keys, records }: Pick<Services, 'keyAdministration' | 'records'>,
  options: Pick<Parameters<typeof watchKeys>[0], 'lease' | 'log' | 'tasks'>,
): ReturnType<typeof watchKeys> | undefined {
  return keys === undefined ? undefined : watchKeys({ keys, records, ...options });
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
