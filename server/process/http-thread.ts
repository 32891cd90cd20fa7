import { randomBytes } from 'node:crypto';
import { Server as TlsServer } from 'node:tls';
import { BodyMemory } from '../streams/body-memory.ts';
import { openLineRing } from '../shared-memory/line-ring.ts';
import { formatAddress, listen } from '../../platform/http/listen.ts';
import type { Logger } from '../../platform/output/logger.ts';
import { expiresAt } from '../../platform/tls/certificate-validity.ts';
import { applyTlsMaterial, watchTlsFiles } from '../../platform/tls/reloading-context.ts';
import { trustedAuthorities } from '../../platform/tls/default-authorities.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { openAccessLogs, openAuditFeed, openRequestTracing, RequestTraces } from './request-observers.ts';
import { RequestEvents } from '../http/contract/request.ts';
import { createDispatch, type Handlers, answerFailure } from './dispatch.ts';
import { createSourceFinder } from '../http/contract/source-address.ts';
import { createS3Server } from '../http/s3-server.ts';
import { failingTasks, readBackgroundTasks } from '../maintenance/background-tasks.ts';
import { bufferSlotsAt } from '../objects/hashing/hashing.ts';
import { createMetricsHandler } from '../observability/metrics/metrics-handler.ts';
import { BucketCounters } from '../observability/metrics/bucket-counters.ts';
import { RequestCounters } from '../observability/metrics/request-counters.ts';
import { RequestMeasure } from '../observability/metrics/request-measure.ts';
import { TrafficMeter } from '../observability/metrics/traffic-meter.ts';
import { operationNames } from '../s3/routes.ts';
import { CrossOrigin } from '../s3/cross-origin.ts';
import { ProfileRequests } from './thread-profiles.ts';
import { setHearing } from './heard-events.ts';
import { waitForDependencies, starting, type WaitOptions } from './wait-for-dependencies.ts';
import { othersThan, type ClusterView } from '../cluster/membership.ts';
import { openServices, type Services } from './services.ts';
import type { Role, SendMessage, ThreadOptions } from './threads.ts';
import { openWebsites } from './websites.ts';
import { notServing } from '../http/contract/not-serving.ts';
import { createHostStyleFinder } from '../http/contract/host-style.ts';
import { createRequestListener, requestIds } from '../http/request-listener.ts';
import { Freezer } from './freezer.ts';
import type { ApiStart } from './api-services.ts';
import { createHandlers, ownNames } from './http-handlers.ts';
import { metricSources } from './metric-services.ts';
import { ThreadReadiness } from './thread-readiness.ts';

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
  const readiness = new ThreadReadiness(services.stores);
  let cluster: ClusterView = { leads: false, live: [] };
  let handlers: Handlers | undefined;
  const crossOrigin = new CrossOrigin(services.objects, options.settings.corsOrigins);
  let endpoint = '';
  let deploymentId = '';

  const { memory, buckets, thread } = options.counters;
  const counters = new RequestCounters(memory, thread, operationNames);
  const bucketCounters = new BucketCounters(buckets, thread, operationNames, {
    ask: () => send({ kind: 'bucket-list-needed' }),
  });
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
      ready: () => readiness.now().kind === 'ready',
      server: () => endpoint,
      cluster: () => cluster,
      certificateExpires: () => (tls === undefined ? undefined : expiresAt(tls.current.cert)),
    }),
    clock: () => new Date(),
  });

  const { clientCertificates: certificates } = options.settings;
  const authorities = certificates?.caFile === undefined ? {} : { caFile: certificates.caFile };
  const nextRequestId = requestIds(randomBytes);
  const traces = new RequestTraces(events, openLineRing(options.live.requests), () => endpoint);
  const freezer = new Freezer();
  const dispatch = createDispatch({
    readiness: () => readiness.now(),
    handlers: () => handlers,
    metrics,
    failingTasks: failingTasks(() => readBackgroundTasks(services.stores.records)),
    others: () => othersThan(options.serverId, cluster).length,
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
    answerFailure,
    ...common,
    handle: tracing?.handler(dispatch, events) ?? dispatch,
    ...(certificates === undefined ? {} : { clientAuthorities: () => trustedAuthorities(tls?.current.ca) }),
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
            if (handlers === undefined || readiness.now().kind === 'refusing') throw notServing();
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
  const own: Pick<ApiStart, 'process' | 'stopping'> = {
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
          readiness.wait(message);
          return undefined;
        case 'endpoint':
          return undefined;
        case 'store-fault':
          readiness.storeFault = message.fault;
          return undefined;
        case 'cluster':
          cluster = message.view;
          return undefined;
        case 'bucket-list':
          bucketCounters.takeList(message.list);
          return undefined;
        // The background thread reads the list.
        case 'bucket-list-needed':
        case 'requests-ended':
          return undefined;
        case 'prepare':
          deploymentId = message.deploymentId;
          services.stores.belongTo(deploymentId);
          readiness.wait(starting);
          if (
            !(await openStores(services, {
              log: first ? log : quiet,
              signal: stopped.signal,
              onWaiting: (waiting) => readiness.wait(waiting),
            }))
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
              cluster: () => cluster,
              live: () => cluster.live,
              others: () => othersThan(options.serverId, cluster),
              auditSums: () => audit?.sums() ?? [],
              storeFault: () => readiness.storeFault,
              send,
              ...own,
            },
            log,
          );
          handlers = { ...handlers, s3: freezer.guard(handlers.s3) };
          void accessLogs.start();
          readiness.serve();
          return send({ kind: 'serving' });
        case 'announce':
          readiness.announce();
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
          readiness.stop();
          for (const one of servers) one.connections.startClosing();
          return send({ kind: 'done' });
        case 'refuse':
          readiness.refuse();
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
