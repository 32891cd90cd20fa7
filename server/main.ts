import { ProgramError } from '../platform/errors/program-error.ts';
import { randomUUID } from 'node:crypto';
import { availableParallelism, hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { notifyServiceManager } from './process/service-manager.ts';
import { failOnLostOutput } from '../platform/output/standard-output.ts';
import { endAtOnce, onShutdown } from '../platform/process/shutdown.ts';
import { formatAddress, parseAddress } from '../platform/http/listen.ts';
import { sharedBodyMemory } from './streams/body-memory.ts';
import { openLineRing } from './shared-memory/line-ring.ts';
import { countDroppedLinesIn } from '../platform/output/log-output.ts';
import { createLogger, logWarnings, type Logger } from '../platform/output/logger.ts';
import { loadSettings } from '../platform/settings/load-settings.ts';
import { cleanProcessVariables } from '../platform/settings/setting-variables.ts';
import { hasKeys, type ServerSettings } from '../platform/settings/server-settings.ts';
import { newestPrimaryMemory } from './store/postgres/newest-primary.ts';
import { sharedMutexMemory } from './shared-memory/shared-mutex.ts';
import { readTlsFiles } from '../platform/tls/tls-files.ts';
import { openAudit, claimPort, sizeThreadPool, liveMemory } from './process/process-resources.ts';
import { bucketCounterMemory } from './observability/metrics/bucket-counters.ts';
import { requestCounterMemory } from './observability/metrics/request-counters.ts';
import { type HashingPlace, hashingPlaces } from './objects/hashing/hashing.ts';
import { startHashingThreads } from './process/hashing-threads.ts';
import { Thread, type LiveMemory, type ThreadOptions } from './process/threads.ts';
import { folderOf, parseArguments, type ServerArguments } from './process/command-line.ts';
import { prepareRecordFile, recordFolderWarning } from './process/record-files.ts';
import { openDataFolder, type OwnDataFolder } from './store/data-folder.ts';
import { describeAddress, storePlaces, type StorePlaces } from '../platform/store-address/store-address.ts';
import { handleServiceActions } from './process/service-actions.ts';
import { RunMark } from './process/run-mark.ts';
import { watchLocks } from './process/lock-watch.ts';
import { handleProfileRequests } from './process/thread-profiles.ts';

/** Milliseconds that requests in flight get when the server stops. */
const drainMs = 10_000;
const stopThread = (thread: Thread) => thread.request({ kind: 'stop', drainMs }, 'stopped');

/** After this many servers in a row that ended by themselves, the next one looks at all pages of a large record file. */
const maxCrashes = 2;

/** Milliseconds that audit entries get after the requests. */
const auditMs = 5_000;

async function main(): Promise<void> {
  failOnLostOutput('coffer-server');
  sizeThreadPool(process.env, availableParallelism());
  // Libraries read these themselves. Those of the server have a reader of their own.
  cleanProcessVariables({ prefixes: ['OTEL_', 'AWS_'] });
  const args = parseArguments(process.argv.slice(2));
  const settings = loadSettings({ env: overlay(process.env, args) });
  // MinIO separates its drives by spaces there.
  const path = args.folder ?? folderOf(settings.dataFolder?.split(/\s+(?=\/|https?:)/) ?? []);
  const places = storePlaces(settings.stores, path);
  const live = liveMemory();
  countDroppedLinesIn(live.droppedLines);
  const logRing = openLineRing(live.log);
  const log = createLogger({ name: 'coffer-server', level: settings.logLevel, also: (line) => logRing.append(line) });
  logWarnings(log);
  for (const warning of settings.warnings) log.warn(warning);
  const tls = tlsFiles(args, settings);
  if (tls !== undefined) await readTlsFiles(tls);
  if (path !== undefined && !places.dataFolders.includes(resolve(path))) {
    log.warn(
      { folder: path },
      `nothing is kept in the folder ${path}: SVC_STORE_RECORDS and SVC_STORE_BLOBS say where`,
    );
  }
  const folders: OwnDataFolder[] = [];
  let mark: RunMark | undefined;
  try {
    for (const folder of places.dataFolders) folders.push(await openDataFolder(folder));
    mark = places.records.kind === 'lmdb' ? new RunMark(places.records.folder) : undefined;
    const crashes = mark?.crashes ?? 0;
    if (crashes >= maxCrashes) {
      log.warn(
        { event: 'crashes', crashes },
        `the last ${crashes} servers ended within minutes of their start, without a stop: this one looks at all records before it opens them`,
      );
    }
    await prepareRecordFile(places, { looksAtAll: crashes >= maxCrashes });
    const warning = recordFolderWarning(places);
    if (warning !== undefined) log.warn({ event: 'records-on-btrfs' }, warning);
    mark?.begin();
    await run({ settings, places, folders, log, live, tls, stopped: () => mark?.end() });
  } catch (error) {
    mark?.withdraw();
    await Promise.all(folders.map((folder) => folder.close()));
    throw error;
  }
}

async function run({
  settings,
  places,
  folders,
  log,
  live,
  tls,
  stopped,
}: {
  readonly settings: ServerSettings;
  readonly places: StorePlaces;
  readonly folders: readonly OwnDataFolder[];
  readonly log: Logger;
  readonly live: LiveMemory;
  readonly tls: ThreadOptions['tls'] | undefined;
  /** Called after a clean stop. */
  readonly stopped: () => void;
}): Promise<void> {
  const address = parseAddress(settings.address, 'SVC_ADDRESS or --address');
  const consoleAddress = parseAddress(settings.consoleAddress, 'SVC_CONSOLE_ADDRESS or --console-address');
  await claimPort(address, '--address');
  let served = false;
  const fail = (message: string) => {
    log.fatal(`stopping at once: ${message}`);
    if (served) endAtOnce();
    process.exit(1);
  };
  const threads = httpThreads(settings);
  const audit = await openAudit(settings, log);
  const options = {
    settings,
    stores: storeOptions(places, folders, threads),
    serverId: randomUUID(),
    ...(tls === undefined ? {} : { tls }),
    startedAt: Date.now(),
    live,
    bodies: sharedBodyMemory(),
    blockSums: sharedMutexMemory(),
    ...(audit === undefined ? {} : { audit: { memory: audit.memory } }),
  };
  const memory = { memory: requestCounterMemory(threads), buckets: bucketCounterMemory(threads) };
  const background = new Thread(
    { ...options, role: 'background', first: false, counters: { ...memory, thread: 0 } },
    fail,
  );
  const hashing = hashingPlaces(threads);
  const http = hashing.map((place, thread) => {
    const counters = { ...memory, thread };
    return new Thread({ ...options, role: 'http', first: thread === 0, counters, hashing: place }, fail);
  });
  const startHashing = (place: HashingPlace, onFailure: (message: string) => void) => {
    const counters = { ...memory, thread: 0 };
    return new Thread({ ...options, role: 'hashing', first: false, counters, hashing: place }, onFailure);
  };
  const unwatchLocks = watchLocks({ folders, log, fail });
  startHashingThreads({ http, places: hashing, start: startHashing, fail, log });
  const all = [background, ...http];
  for (const thread of all) thread.on('audit', ({ lines }) => audit?.take(lines));
  const untold = (error: Error) => {
    log.warn({ err: error }, 'systemd was not told the state of the service (systemd-notify)');
  };
  const shutdownMs = settings.shutdownDelayMs + settings.shutdownRefusalMs;
  // A thread may be writing: lmdb-js crashes when the runtime ends it amid a commit (1 of 12 times), as `process.exit` does.
  const hangup = settings.audit.file === undefined ? {} : { onHangup: () => audit?.reopen() };
  const askForStop = onShutdown(
    { log, timeoutMs: shutdownMs + drainMs + auditMs + 10_000, giveUp: endAtOnce, ...hangup },
    async () => {
      notifyServiceManager('STOPPING=1', untold);
      for (const thread of all) thread.send({ kind: 'unready' });
      // A server that was never ready has no clients that need the delay.
      if (served) await sleep(settings.shutdownDelayMs);
      if (served && settings.shutdownRefusalMs > 0) {
        for (const thread of all) thread.send({ kind: 'refuse' });
        await sleep(settings.shutdownRefusalMs);
      }
      const backgroundStopped = stopThread(background);
      await Promise.all(http.map(stopThread));
      background.send({ kind: 'requests-ended' });
      await backgroundStopped;
      await audit?.close(auditMs);
      unwatchLocks();
      stopped();
      await Promise.all(folders.map((folder) => folder.close()));
    },
  );
  const dependenciesReady = background.next('dependencies-ready');
  background.on('waiting', ({ waitsFor, reason }) => {
    for (const thread of http) thread.send({ kind: 'waiting', waitsFor, reason });
  });
  background.on('store-fault', (message) => {
    for (const thread of http) thread.send(message);
  });
  background.on('cluster', ({ view }) => {
    for (const thread of http) thread.send({ kind: 'cluster', view });
  });
  background.on('bucket-list', (message) => {
    for (const thread of http) thread.send(message);
  });
  for (const thread of http) thread.on('bucket-list-needed', () => background.send({ kind: 'bucket-list-needed' }));
  handleServiceActions(http, { log, askForStop, background });
  handleProfileRequests(all);
  await Promise.all(all.map((thread) => thread.next('started')));

  const claimed = await claimPort(address, '--address');
  const website =
    settings.websiteAddress === undefined
      ? undefined
      : await claimPort(parseAddress(settings.websiteAddress, 'SVC_WEBSITE_ADDRESS'), 'SVC_WEBSITE_ADDRESS');
  const listen = { kind: 'listen', address: claimed, shared: http.length > 1, website } as const;
  const listening = await Promise.all(http.map((thread) => thread.request(listen, 'listening')));
  const consoleListening = settings.browser.enabled
    ? await background.request({ kind: 'listen', address: consoleAddress, shared: false }, 'listening')
    : undefined;
  const scheme = tls === undefined ? 'http' : 'https';
  const urlOf = (bound: { host: string; port: number } | undefined) =>
    bound === undefined ? undefined : `${scheme}://${formatAddress(bound)}`;
  const addresses = {
    s3: urlOf(listening[0]),
    console: urlOf(consoleListening),
    ...(website !== undefined && { websites: urlOf({ host: website.host ?? '0.0.0.0', port: website.port }) }),
  };
  const stores = { records: describeAddress(places.records), blobs: describeAddress(places.blobs) };
  log.info(
    { event: 'listening', ...addresses, threads: http.length, ...stores },
    `S3 on ${addresses.s3}, console ${addresses.console === undefined ? 'off' : `on ${addresses.console}`}`,
  );
  log.info({ encryption: hasKeys(settings) }, encryptionSentence(settings));

  background.send({ kind: 'endpoint', endpoint: endpointOf(listening[0]) });
  const { deploymentId } = await dependenciesReady;
  audit?.belongsTo(deploymentId);
  await Promise.all(all.map((thread) => thread.request({ kind: 'prepare', deploymentId }, 'prepared')));
  await Promise.all(all.map((thread) => thread.request({ kind: 'serve' }, 'serving')));
  for (const thread of all) thread.send({ kind: 'announce' });
  served = true;
  log.info({ event: 'ready' }, 'ready');
  notifyServiceManager('READY=1', untold);
}

function encryptionSentence({ keyService, secretKey }: ServerSettings): string {
  if (keyService !== undefined) {
    return `encryption is on: key ${keyService.defaultKey} of ${keyService.endpoints.join(', ')}`;
  }
  if (secretKey !== undefined) return `encryption is on: key ${secretKey.name} of SVC_KMS_SECRET_KEY`;
  return 'encryption is off: no key service is set (SVC_KMS_KEYSVC_ENDPOINT, or SVC_KMS_SECRET_KEY)';
}

/** The limit of one server's connections to a database, over all threads. */
const connectionsOfServer = 32;

function storeOptions(
  { records, blobs }: StorePlaces,
  folders: readonly OwnDataFolder[],
  threads: number,
): ThreadOptions['stores'] {
  const home = records.kind === 'lmdb' ? folders[0] : undefined;
  const holdsBlobs = blobs.kind === 'files' && blobs.folder === home?.blobsFolder;
  return {
    records,
    blobs,
    ...(home === undefined ? {} : { folder: { deploymentId: home.deploymentId, holdsBlobs } }),
    place: describeAddress(blobs),
    connections: Math.min(8, Math.max(2, Math.floor(connectionsOfServer / (threads + 1)))),
    newestPrimary: newestPrimaryMemory(),
  };
}

/** Returns the address by which other servers know this one. Servers that listen on every address, as pods do, use their host name. */
function endpointOf(bound: { readonly host: string; readonly port: number } | undefined): string {
  if (bound === undefined) return '';
  return formatAddress(['0.0.0.0', '::'].includes(bound.host) ? { ...bound, host: hostname() } : bound);
}

/** Several listeners on one port need `reusePort`, which balances only on Linux. */
function httpThreads(settings: ServerSettings): number {
  return process.platform === 'linux' ? (settings.threads ?? availableParallelism()) : 1;
}

function overlay(env: NodeJS.ProcessEnv, args: ServerArguments): Record<string, string | undefined> {
  return {
    ...env,
    ...(args.address === undefined ? {} : { SVC_ADDRESS: args.address }),
    ...(args.consoleAddress === undefined ? {} : { SVC_CONSOLE_ADDRESS: args.consoleAddress }),
  };
}

function tlsFiles(args: ServerArguments, settings: ServerSettings): ThreadOptions['tls'] | undefined {
  if (args.certsDir === undefined) return settings.tls;
  return { certFile: join(args.certsDir, 'public.crt'), keyFile: join(args.certsDir, 'private.key') };
}

/** Reports if the message of an error is enough for the operator, without a stack. */
function isExpected(error: unknown): error is Error {
  return error instanceof ProgramError;
}

try {
  await main();
} catch (error) {
  process.stderr.write(
    isExpected(error)
      ? `coffer-server: ${error.message}\n`
      : `coffer-server failed to start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exit(1);
}
