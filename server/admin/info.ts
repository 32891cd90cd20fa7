import { setTimeout as sleep } from 'node:timers/promises';
import { isDirectoryError } from '../auth/identity-error.ts';
import type { AdminServices, OtherServer } from '../administration/services.ts';
import type { AuditTargetSums } from '../observability/audit/audit-tally.ts';
import type { Usage } from '../observability/usage/usage.ts';
import type { BackgroundTask } from '../maintenance/background-tasks.ts';
import { type KeyServiceState, keyServerStates, keyServiceState } from '../administration/keys.ts';
import { warningOfPoliciesByAddress } from '../administration/policies-by-address.ts';
import { notificationInfo } from './notifications.ts';
import { drive, storageState, type StorageState } from './storage.ts';
import { adminPath, cofferPath, nowOf, type AdminAnswer, type AdminCall, json, type Route } from './call.ts';

/** `online` if the directory answers searches. */
type DirectoryState = 'online' | 'offline' | 'disabled';

/** A name that no user has: only the answer counts. */
const anyName = 'coffer-asks-whether-you-are-there';

/** Milliseconds. A slow directory must not delay the server's state. */
const defaultTimeoutMs = 3_000;

export async function directoryState(
  directory: AdminServices['directory'],
  timeoutMs = defaultTimeoutMs,
): Promise<DirectoryState> {
  if (directory === undefined) return 'disabled';
  const late = new AbortController();
  try {
    return await Promise.race([
      directory.find(anyName).then((): DirectoryState => 'online', stateAfter),
      sleep(timeoutMs, 'offline' as const, { signal: late.signal, ref: false }),
    ]);
  } finally {
    late.abort();
  }
}

function stateAfter(error: unknown): DirectoryState {
  if (!isDirectoryError(error)) return 'offline';
  if (error.code === 'no-directory') return 'disabled';
  return error.code === 'directory-unavailable' ? 'offline' : 'online';
}

interface InfoSources {
  readonly server: AdminServices['server'];
  readonly others: readonly OtherServer[];
  readonly buckets: number;
  /** Undefined before the first count. */
  readonly usage: Usage | undefined;
  readonly storage: StorageState;
  readonly keyService: KeyServiceState;
  readonly keyServers: Awaited<ReturnType<typeof keyServerStates>>;
  readonly directory: DirectoryState;
  readonly backgroundTasks: readonly BackgroundTask[];
  readonly audit: readonly AuditTargetSums[];
  readonly notifications: Awaited<ReturnType<typeof notificationInfo>>;
  readonly warnings: readonly string[];
  readonly now: Date;
}

/** Makes the message for `mc admin info`, with one pool of one set of one drive. */
function infoMessage(sources: InfoSources) {
  const { server, others, buckets, usage, storage, keyService, keyServers, directory, backgroundTasks, now } = sources;
  const { sqsARN, notifications } = sources.notifications;
  const theDrive = drive(server, storage);
  const notYet = usage === undefined ? { error: 'nothing was counted yet' } : {};
  return {
    mode: 'online',
    domain: server.domains ?? [],
    region: server.region,
    sqsARN,
    deploymentID: server.deploymentId,
    buckets: { count: buckets },
    objects: { count: usage?.objects ?? 0, ...notYet },
    versions: { count: usage?.versions ?? 0, ...notYet },
    deletemarkers: { count: usage?.deleteMarkers ?? 0, ...notYet },
    usage: { size: usage?.bytes ?? 0, ...notYet },
    services: {
      // MinIO has no `endpoints`, and its clients ignore it.
      kms: { status: keyService, encrypt: keyService, decrypt: keyService, endpoints: keyServers },
      ldap: { status: directory },
      logger: [],
      audit: sources.audit.map(({ target, state }) => ({ [target]: { status: state } })),
      notifications,
    },
    backgroundTasks: backgroundTasks.map(taskInfo),
    // Only Coffer has them.
    warnings: sources.warnings,
    backend: {
      backendType: 'Erasure',
      onlineDisks: storage.isAway ? 0 : 1,
      offlineDisks: storage.isAway ? 1 : 0,
      standardSCParity: 0,
      rrSCParity: 0,
      standardSCData: [1],
      totalSets: [1],
      totalDrivesPerSet: [1],
    },
    servers: [
      serverEntry({ ...server, startedAt: server.startedAt.getTime() }, now, theDrive),
      ...others.map((other) => serverEntry(other, now, theDrive)),
    ],
    pools: {
      0: {
        0: {
          id: 0,
          rawUsage: theDrive.usedspace,
          rawCapacity: theDrive.totalspace,
          ...(usage && {
            usage: usage.bytes,
            objectsCount: usage.objects,
            versionsCount: usage.versions,
            deleteMarkersCount: usage.deleteMarkers,
          }),
          healDisks: 0,
        },
      },
    },
  };
}

/** MinIO has no such field, and its clients ignore it. */
function taskInfo({ task, lastSuccess, failure }: BackgroundTask) {
  return {
    task,
    state: failure === undefined ? 'ok' : 'failing',
    ...(lastSuccess !== undefined && { lastSuccess: new Date(lastSuccess).toISOString() }),
    ...(failure && {
      since: new Date(failure.since).toISOString(),
      attempts: failure.attempts,
      error: failure.error,
      nextAttempt: new Date(failure.retryAt).toISOString(),
    }),
  };
}

/** Servers over one store share its single drive. */
function serverEntry(
  { endpoint, startedAt, version, commitId }: OtherServer & { readonly commitId?: string },
  now: Date,
  theDrive: ReturnType<typeof drive>,
) {
  return {
    state: 'online',
    endpoint,
    uptime: Math.max(0, Math.floor((now.getTime() - startedAt) / 1_000)),
    version,
    ...(commitId !== undefined && { commitID: commitId }),
    network: { [endpoint]: 'online' },
    drives: [theDrive],
    poolNumber: 1,
    poolNumbers: [1],
  };
}

export const infoRoutes: readonly Route[] = [
  { method: 'GET', path: adminPath('info'), action: 'admin:ServerInfo', serve: serverInfo },
  {
    method: 'GET',
    path: cofferPath('deployment'),
    action: 'admin:ServerInfo',
    // What the operator asks each minute: the whole state would ask the key service and the directory too.
    serve: async ({ services }) => {
      const [unpromoted, space] = await Promise.all([services.maintenance?.unpromoted(), services.space()]);
      return json({ deploymentID: services.server.deploymentId, space, ...(unpromoted && { unpromoted }) });
    },
  },
];

async function serverInfo({ services }: AdminCall): Promise<AdminAnswer> {
  return json(await currentInfo(services));
}

/** Asks everything that the state of the server consists of. */
export async function currentInfo(services: AdminServices): Promise<ReturnType<typeof infoMessage>> {
  const [buckets, usage, storage, keyService, keyServers, directory, backgroundTasks, notifications] =
    await Promise.all([
      services.objects.listBuckets(),
      services.usage?.last(),
      storageState(services),
      keyServiceState(services.keys),
      keyServerStates(services.keys),
      directoryState(services.directory),
      services.backgroundTasks?.() ?? [],
      notificationInfo(services),
    ]);
  const now = nowOf(services);
  const others = services.others?.() ?? [];
  const { server } = services;
  const warning = await warningOfPoliciesByAddress(
    buckets.map(({ name }) => name),
    services,
  );
  const warnings = warning === undefined ? [] : [warning];
  const audit = services.auditTargets?.() ?? [];
  const found = { warnings, audit, usage, storage, keyService, keyServers, directory, backgroundTasks, notifications };
  return infoMessage({ server, others, buckets: buckets.length, ...found, now });
}
