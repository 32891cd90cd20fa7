import type { AdminServices, OtherServer } from './services.ts';

/** `online` where the key service answers and has the default key. */
export type KeyServiceState = 'online' | 'offline' | 'disabled';

export interface InfoSources {
  readonly server: AdminServices['server'];
  readonly others: readonly OtherServer[];
  readonly buckets: number;
  readonly space: { readonly free: number; readonly total: number } | undefined;
  readonly keyService: KeyServiceState;
  readonly now: Date;
}

/** What `mc admin info` reads: one pool of one set of one drive. */
export function infoMessage({ server, others, buckets, space, keyService, now }: InfoSources): Record<string, unknown> {
  const usage = drive(server, space);
  const notCounted = { count: 0, error: 'objects are not counted' };
  return {
    mode: 'online',
    domain: [],
    region: server.region,
    sqsARN: [],
    deploymentID: server.deploymentId,
    buckets: { count: buckets },
    objects: notCounted,
    versions: notCounted,
    deletemarkers: notCounted,
    usage: { size: 0, error: 'bytes of objects are not counted' },
    services: {
      kms: { status: keyService, encrypt: keyService, decrypt: keyService },
      ldap: { status: 'disabled' },
      logger: [],
      audit: [],
      notifications: [],
    },
    backend: {
      backendType: 'Erasure',
      onlineDisks: 1,
      offlineDisks: 0,
      standardSCParity: 0,
      rrSCParity: 0,
      standardSCData: [1],
      totalSets: [1],
      totalDrivesPerSet: [1],
    },
    servers: [
      serverInfo({ ...server, startedAt: server.startedAt.getTime() }, now, usage),
      ...others.map((other) => serverInfo(other, now, usage)),
    ],
    pools: {
      0: {
        0: {
          id: 0,
          rawUsage: usage.usedspace,
          rawCapacity: usage.totalspace,
          usage: 0,
          objectsCount: 0,
          versionsCount: 0,
          deleteMarkersCount: 0,
          healDisks: 0,
        },
      },
    },
  };
}

/** Servers that share a store have the one drive in common. */
function serverInfo(
  { endpoint, startedAt, version, commitId = '' }: OtherServer & { readonly commitId?: string },
  now: Date,
  usage: ReturnType<typeof drive>,
) {
  return {
    state: 'online',
    endpoint,
    uptime: Math.max(0, Math.floor((now.getTime() - startedAt) / 1_000)),
    version,
    commitID: commitId,
    network: { [endpoint]: 'online' },
    drives: [usage],
    poolNumber: 1,
    poolNumbers: [1],
  };
}

function drive(server: AdminServices['server'], space: InfoSources['space']) {
  const { free, total } = space ?? { free: 0, total: 0 };
  return {
    endpoint: server.dataFolder,
    rootDisk: false,
    path: server.dataFolder,
    state: 'ok',
    uuid: server.deploymentId,
    totalspace: total,
    usedspace: total - free,
    availspace: free,
    pool_index: 0,
    set_index: 0,
    disk_index: 0,
  };
}
