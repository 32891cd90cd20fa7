import { hostname } from 'node:os';
import packageJson from '../../package.json' with { type: 'json' };
import { droppedLogLines } from '../../platform/output/log-output.ts';
import { hasKeys } from '../../platform/settings/server-settings.ts';
import { keyServerStates } from '../administration/keys.ts';
import { readCheckCounts } from '../federation/user-status-records.ts';
import { readBackgroundTasks } from '../maintenance/background-tasks.ts';
import { readScrubState } from '../maintenance/verify/scrub.ts';
import { notificationQueues } from '../notifications/notification-queues.ts';
import { quarantined } from '../objects/operations/quarantine.ts';
import { readSegmentSpace } from '../objects/segments/segment-space.ts';
import type { Integrity, MetricSources } from '../observability/metrics/metric-sources.ts';
import { createUsageReader } from '../observability/usage/usage-record.ts';
import { RemoteTargets } from '../replication/remote-targets.ts';
import { replicationSums } from '../replication/replication-sums.ts';
import type { Services } from './services.ts';
import type { ThreadOptions } from './threads.ts';

/** Reads what the metrics of a server show, beside what its thread counts. */
export function metricSources(
  { settings, stores: { place }, startedAt }: ThreadOptions,
  { objects, blobs, keys, keyAdministration, stores, sealed }: Services,
  own: Pick<MetricSources, 'sums' | 'byBucket' | 'audit' | 'ready' | 'server' | 'cluster' | 'certificateExpires'>,
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
