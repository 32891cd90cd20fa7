import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { Server as TlsServer } from 'node:tls';
import { BodyMemory } from '../../platform/body-memory.ts';
import { openLineRing } from '../../platform/line-ring.ts';
import { droppedLogLines } from '../../platform/log-output.ts';
import { formatAddress, listen } from '../../platform/listen.ts';
import type { Logger } from '../../platform/logger.ts';
import { hasKeys } from '../../platform/settings/server-settings.ts';
import { expiresAt } from '../../platform/tls/certificate-validity.ts';
import { applyTlsMaterial, watchTlsFiles } from '../../platform/tls/reloading-context.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { keyServerStates } from '../administration/keys.ts';
import type { ServerProcess } from '../administration/services.ts';
import { adminServices } from './admin-services.ts';
import { openAccessLogs, openAuditFeed, openRequestTracing, RequestTraces } from './request-observers.ts';
import { createAdminHandler } from '../admin/admin-handler.ts';
import { RequestEvents } from '../http/contract/request.ts';
import { readCheckCounts } from '../federation/user-status-records.ts';
import { Freezer, createDispatch, notServing, type Handlers, type Readiness } from '../http/dispatch.ts';
import { createSourceFinder } from '../http/contract/source-address.ts';
import { createRequestListener, requestIds, createS3Server } from '../http/s3-server.ts';
import { failingTasks, readBackgroundTasks } from '../maintenance/background-tasks.ts';
import { bufferSlotsAt } from '../objects/hashing/hashing.ts';
import { quarantined } from '../objects/operations/quarantine.ts';
import { readScrubState } from '../maintenance/verify/scrub.ts';
import { readSegmentSpace } from '../objects/segments/segment-space.ts';
import type { AuditTargetSums } from '../observability/audit/audit-tally.ts';
import { createMetricsHandler } from '../observability/metrics/metrics-handler.ts';
import type { Integrity, MetricSources } from '../observability/metrics/metric-sources.ts';
import { BucketCounters, RequestMeasure, RequestCounters } from '../observability/metrics/request-counters.ts';
import { TrafficMeter } from '../observability/metrics/traffic-meter.ts';
import { operationNames } from '../s3/routes.ts';
import { CrossOrigin } from '../s3/cross-origin.ts';
import { createS3Api } from '../s3/s3-api.ts';
import { createHostStyleFinder } from '../s3/request.ts';
import { notificationQueues } from '../notifications/notification-queues.ts';
import { openSupport } from './open-support.ts';
import { ProfileRequests } from './thread-profiles.ts';
import { RemoteTargets } from '../replication/remote-targets.ts';
import { replicationSums } from '../replication/replication-sums.ts';
import { openReplications } from './replications.ts';
import { openCallableServers, openServerSpeeds, openSites } from './sites.ts';
import { hearEvents, setHearing } from './heard-events.ts';
import { waitForDependencies, starting, type WaitOptions, type Waiting } from './wait-for-dependencies.ts';
import { othersThan, type ReplicasView } from '../replicas/replicas.ts';
import { openServices, type Services, stsActions } from './services.ts';
import { createStsHandler } from '../sts/sts-handler.ts';
import type { Role, SendMessage, ThreadOptions } from './threads.ts';
import { openWebsites } from './websites.ts';
import { createUsageReader } from '../observability/usage/usage-record.ts';

/** Starts a thread that serves S3, STS and the admin API on its own listener. */
export async function startHttp(options: ThreadOptions, log: Logger, send: SendMessage): Promise<Role> {
  const { first } = options;
  S3Error.tracesCallers = log.isLevelEnabled('debug');
  // The first thread, or the background thread, logs the messages that all threads would log.
  const quiet = log.child({}, { level: 'error' });
  // The background thread logs the messages and errors of providers.
  const silent = log.child({}, { level: 'silent' });
  const bufferSlots = options.hashing && bufferSlotsAt(options.hashing, () => send({ kind: 'hashing-needed' }));
  const tracing = await openRequestTracing(process.env, first ? log : quiet);
  const logs = { main: first ? log : quiet, providers: silent, userStatus: log };
  const services = await openServices(options, logs, { bufferSlots, tracing });
  const stopped = new AbortController();
  let readiness: Readiness = { kind: 'waiting', ...starting };
  let replicas: ReplicasView = { leads: false, live: [] };
  let storeFault: Waiting | undefined;
  let handlers: Handlers | undefined;
  const crossOrigin = new CrossOrigin(services.objects, options.settings.corsOrigins);
  let endpoint = '';
  let deploymentId = '';

  const { memory, buckets, thread } = options.counters;
  const counters = new RequestCounters(memory, thread, operationNames);
  const bucketCounters = new BucketCounters(buckets, thread, operationNames);
  const events = new RequestEvents();
  const audit = await openAuditFeed(options, events, { deploymentId: () => deploymentId, send, log });
  const metrics = createMetricsHandler({
    authorization: options.settings.metricsAuthorization,
    access: services.access,
    sources: metricSources(options, services, {
      sums: () => {
        traffic.look();
        return counters.sums();
      },
      byBucket: () => bucketCounters.sums(),
      ...(audit === undefined ? {} : { audit: () => audit.sums() }),
      ready: () => readinessNow().kind === 'ready',
      server: () => endpoint,
      replicas: () => replicas,
      certificateExpires: () => (tls === undefined ? undefined : expiresAt(tls.current.cert)),
    }),
    clock: () => new Date(),
  });

  /** A ready server becomes unready when its record store is away for longer than a restart of the store takes. */
  const readinessNow = (): Readiness => {
    // Records in a folder are never away.
    const outage = readiness.kind === 'ready' && services.stores.shared ? services.stores.outage() : undefined;
    if (outage !== undefined && outage.forMs >= maxOutageMs)
      return { kind: 'waiting', waitsFor: 'database', reason: outage.reason };
    // A request that writes nothing is still served.
    return readiness.kind === 'ready' && storeFault !== undefined ? { kind: 'impaired', ...storeFault } : readiness;
  };
  const setWaiting = ({ waitsFor, reason }: Waiting) => {
    if (readiness.kind === 'waiting') readiness = { kind: 'waiting', waitsFor, reason };
  };
  const { clientCertificates: certificates } = options.settings;
  const authorities = certificates?.caFile === undefined ? {} : { caFile: certificates.caFile };
  const nextRequestId = requestIds(randomBytes);
  const traces = new RequestTraces(events, openLineRing(options.live.requests), () => endpoint);
  const freezer = new Freezer();
  const dispatch = createDispatch({
    readiness: readinessNow,
    handlers: () => handlers,
    metrics,
    failingTasks: failingTasks(() => readBackgroundTasks(services.stores.records)),
    others: () => othersThan(options.replica, replicas).length,
  });
  const common = {
    secure: options.tls !== undefined,
    findSource: createSourceFinder(options.settings.proxies),
    nextRequestId,
    bodies: new BodyMemory(options.bodies),
    log,
    measure: () => new RequestMeasure(counters, bucketCounters),
    events,
  };
  const listener = createRequestListener({
    ...common,
    handle: tracing?.handler(dispatch, events) ?? dispatch,
    clientCertificates: certificates !== undefined,
    findHostStyle: createHostStyleFinder(options.settings.domains, ownNames(options.settings)),
    // Before the stores are open, every request is refused.
    crossOrigin: (request) => (handlers === undefined ? undefined : crossOrigin.headersOf(request)),
  });
  const tls =
    options.tls === undefined
      ? undefined
      : await watchTlsFiles({ ...options.tls, ...authorities, log: first ? log : quiet }, (material) => {
          for (const one of servers) if (one.server instanceof TlsServer) applyTlsMaterial(one.server, material);
        });
  const { server, connections } = createS3Server({
    listener,
    nextRequestId,
    ...(tls === undefined ? {} : { tls: tls.current }),
    clientCertificates: certificates !== undefined,
  });
  const website =
    options.settings.websiteAddress === undefined
      ? undefined
      : await openWebsites({
          listener: common,
          objects: services.objects,
          s3: (request) => {
            if (handlers === undefined || readinessNow().kind === 'refusing') throw notServing();
            return handlers.s3(request);
          },
          domains: options.settings.domains,
          tls: tls?.current,
        });
  const servers = [{ server, connections }, ...(website === undefined ? [] : [website])];
  const traffic = new TrafficMeter(server, counters);
  const accessLogs = openAccessLogs(options, services, { events, log: first ? log : quiet });
  const profiles = new ProfileRequests(send);
  let acted = Promise.withResolvers<void>();
  const own: Pick<StartState, 'process' | 'stopping'> = {
    process: {
      act(action) {
        send({ kind: 'service', action });
        return acted.promise;
      },
      log: openLineRing(options.live.log),
      profile: (kinds, durationMs) => profiles.request(kinds, durationMs),
      trace: (signal) => traces.follow(signal, (watchers) => send({ kind: 'tracing', watchers })),
    },
    stopping: stopped.signal,
  };

  return {
    async handle(message) {
      switch (message.kind) {
        case 'listen': {
          const { shared: reusePort } = message;
          if (website !== undefined && message.website !== undefined) {
            await listen(website.server, message.website, { setting: 'SVC_WEBSITE_ADDRESS', reusePort });
          }
          const bound = await listen(server, message.address, { setting: '--address', reusePort });
          endpoint = formatAddress(bound);
          return send({ kind: 'listening', host: bound.address, port: bound.port });
        }
        case 'waiting':
          setWaiting(message);
          return undefined;
        case 'endpoint':
          return undefined;
        case 'store-fault':
          storeFault = message.fault;
          return undefined;
        case 'replicas':
          replicas = message.view;
          return undefined;
        case 'prepare':
          deploymentId = message.deploymentId;
          services.stores.belongTo(deploymentId);
          setWaiting(starting);
          if (
            !(await openStores(services, { log: first ? log : quiet, signal: stopped.signal, onWaiting: setWaiting }))
          )
            return undefined;
          void services.providers.start();
          return send({ kind: 'prepared' });
        case 'serve':
          handlers = createHandlers(
            options,
            services,
            {
              endpoint,
              deploymentId,
              crossOrigin,
              replicas: () => replicas,
              auditSums: () => audit?.sums() ?? [],
              send,
              ...own,
            },
            log,
          );
          handlers = { ...handlers, s3: freezer.guard(handlers.s3) };
          void accessLogs.start();
          if (readiness.kind === 'waiting') readiness = { kind: 'serving' };
          return send({ kind: 'serving' });
        case 'announce':
          if (readiness.kind === 'serving') readiness = { kind: 'ready' };
          return undefined;
        case 'trace':
          traces.set(message.on);
          return undefined;
        case 'hear':
          setHearing(services, options, message.on);
          return undefined;
        case 'freeze':
          freezer.set(message.on);
          return send({ kind: 'done' });
        case 'acknowledged':
          acted.resolve();
          acted = Promise.withResolvers();
          return undefined;
        case 'profiles':
          profiles.deliver(message);
          return undefined;
        case 'unready':
          if (readiness.kind === 'ready' || readiness.kind === 'serving') readiness = { kind: 'stopping' };
          for (const one of servers) one.connections.startClosing();
          return send({ kind: 'done' });
        case 'refuse':
          readiness = { kind: 'refusing' };
          return undefined;
        case 'stop':
          stopped.abort();
          freezer.set(false);
          await Promise.all(servers.map((one) => one.connections.drain(message.drainMs)));
          await accessLogs.close();
          audit?.flush();
          tls?.close();
          traffic.close();
          await tracing?.close();
          await services.close();
          return send({ kind: 'stopped' });
        default:
          return message satisfies never;
      }
    },
  };
}

/** Waits for the stores again, which may be away since the background thread reached them. It returns false if the server stops first. */
async function openStores({ stores, sealed }: Services, options: WaitOptions): Promise<boolean> {
  const attempt = async () => {
    await stores.openRemote();
    // The background thread turns sealing on.
    await sealed.start({ turnOn: false });
  };
  try {
    await waitForDependencies(attempt, options);
  } catch (error) {
    if (!options.signal.aborted) throw error;
  }
  return !options.signal.aborted;
}

/** Milliseconds that the record store may be away while the server stays ready. */
const maxOutageMs = 5_000;

function metricSources(
  { settings, stores: { place }, startedAt }: ThreadOptions,
  { objects, blobs, keys, keyAdministration, stores, sealed }: Services,
  own: Pick<MetricSources, 'sums' | 'byBucket' | 'audit' | 'ready' | 'server' | 'replicas' | 'certificateExpires'>,
): MetricSources {
  return {
    ...own,
    recordsReachable: () => stores.outage() === undefined,
    // Pods listen on every address, so their host names identify them.
    server: () => own.server().replace(/^(?:0\.0\.0\.0|\[::\]):/, `${hostname()}:`),
    space: () => blobs.space(),
    buckets: async () => (await objects.listBuckets()).length,
    integrity: () => integrityOf(stores.records),
    usage: () => createUsageReader(stores.records).last(),
    userStatusChecks: () => readCheckCounts(sealed),
    notifications: () => notificationQueues(stores.records, settings.notify),
    replication: () => replicationSums(stores.records, new RemoteTargets(sealed)),
    backgroundTasks: () => readBackgroundTasks(stores.records),
    ...(hasKeys(settings) ? { checkKeyService: () => keys.check() } : {}),
    ...(keyAdministration === undefined ? {} : { keyServers: () => keyServerStates(keyAdministration) }),
    droppedLogLines,
    version: packageJson.version,
    startedAt,
    dataFolder: place,
  };
}

/** The maximum count of damaged objects. */
const maxCountedDamaged = 10_000;

async function integrityOf(records: Services['records']): Promise<Integrity> {
  let count = 0;
  for await (const _object of quarantined(records, undefined, maxCountedDamaged)) count += 1;
  const scrub = await readScrubState(records);
  return { quarantined: count, ...(scrub && { scrub }), segments: await readSegmentSpace(records) };
}

interface StartState {
  readonly endpoint: string;
  readonly deploymentId: string;
  readonly crossOrigin: CrossOrigin;
  readonly replicas: () => ReplicasView;
  readonly auditSums: () => readonly AuditTargetSums[];
  readonly process: ServerProcess;
  readonly stopping: AbortSignal;
  readonly send: SendMessage;
}

function createHandlers(options: ThreadOptions, services: Services, known: StartState, log: Logger): Handlers {
  const { settings } = options;
  const notificationTargets = settings.notify.targets.map(({ id, type }) => `${id}:${type}`);
  const replications = openReplications(services, options.startedAt, known.stopping);
  const deployment = {
    live: () => known.replicas().live,
    self: options.replica,
    root: settings.root,
    secure: options.tls !== undefined,
  };
  return {
    s3: createS3Api({
      objects: services.objects,
      access: services.access,
      authenticate: services.authenticate,
      authenticateForm: services.authenticateForm,
      region: settings.region,
      clock: () => new Date(),
      crossOrigin: known.crossOrigin,
      customerKeysWithoutTls: settings.customerKeysWithoutTls,
      queryBudget: settings.queryBudget,
      servedNames: [...settings.domains, ...ownNames(settings)],
      listenedEvents: hearEvents(options, services, {
        source: () => ({
          region: settings.region,
          endpoint: settings.serverUrl ?? `${options.tls === undefined ? 'http' : 'https'}://${known.endpoint}`,
          deploymentId: known.deploymentId,
        }),
        ...known,
        log,
      }),
      notificationTargets,
      replications: replications.s3,
    }),
    sts: createStsHandler({ actions: stsActions(services, settings), log }),
    admin: createAdminHandler({
      ...adminServices(options, services, { ...known, log }),
      authenticate: services.authenticate,
      process: known.process,
      support: openSupport(options, services, { ...known, live: () => known.replicas().live }),
      stopping: known.stopping,
      remoteTargets: replications.targets,
      replicationBacklog: replications.backlog,
      sites: openSites(services, { region: settings.region, self: known.deploymentId }),
      serverSpeeds: openServerSpeeds(deployment),
      callableServers: () => openCallableServers(deployment),
      others: () => othersThan(options.replica, known.replicas()),
    }),
  };
}

/** Returns the name by which clients reach S3. It comes from the settings, since a server behind an ingress cannot detect it. */
function ownNames({ serverUrl }: ThreadOptions['settings']): readonly string[] {
  return serverUrl === undefined ? [] : [new URL(serverUrl).host];
}
