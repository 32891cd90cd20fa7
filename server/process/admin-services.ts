import { randomBytes } from 'node:crypto';
import packageJson from '../../package.json' with { type: 'json' };
import type { AdminServices } from '../administration/services.ts';
import { readBackgroundTasks } from '../maintenance/background-tasks.ts';
import { createBatchJobs } from '../maintenance/batch/batch-jobs.ts';
import { createMaintenance } from '../maintenance/maintenance.ts';
import { createKeyLifecycle } from '../maintenance/rewrap/key-lifecycle.ts';
import { heldNotifications } from '../notifications/held-notifications.ts';
import { notificationQueues } from '../notifications/notification-queues.ts';
import type { AuditTargetSums } from '../observability/audit/audit-tally.ts';
import { createUsageReader } from '../observability/usage/usage-record.ts';
import { createArchivedUsers } from '../sts/archived-users.ts';
import { createSignInTest } from '../sts/test-sign-in.ts';
import type { Logger } from '../../platform/output/logger.ts';
import { TierAdministration } from '../tiering/tier-administration.ts';
import { batchRemotes } from '../replication/batch-remote.ts';
import type { Services } from './services.ts';
import type { ThreadOptions } from './threads.ts';
import type { Waiting } from './wait-for-dependencies.ts';

/** The services of the admin API that do not depend on the thread. */
export function adminServices(
  { settings, stores, startedAt }: ThreadOptions,
  services: Services,
  {
    endpoint,
    deploymentId,
    auditSums,
    storeFault,
    log,
  }: {
    readonly endpoint: string;
    readonly deploymentId: string;
    readonly auditSums: () => readonly AuditTargetSums[];
    readonly storeFault: () => Waiting | undefined;
    readonly log: Logger;
  },
): Omit<AdminServices, 'authenticate'> {
  return {
    access: services.access,
    identities: services.access.identities,
    temporary: services.access.temporary,
    identityProviders: services.federation.identityProviders,
    configurationHistory: services.federation.configurations,
    given: settings.given,
    userStatusCheck: services.federation.userStatusCheck,
    signInTest: createSignInTest({ providers: services.providers, identities: services.access.identities }),
    archivedUsers: createArchivedUsers({ providers: services.providers, identities: services.access.identities }),
    directory: services.directory,
    root: { user: settings.root.user },
    objects: services.objects,
    buckets: services.objects,
    server: {
      deploymentId,
      version: packageJson.version,
      region: settings.region,
      endpoint,
      dataFolder: stores.place,
      domains: settings.domains,
      startedAt: new Date(startedAt),
    },
    auditTargets: auditSums,
    usage: createUsageReader(services.records),
    backgroundTasks: () => readBackgroundTasks(services.stores.records),
    notificationTargets: settings.notify.targets.map(({ id, type }) => `${id}:${type}`),
    notifications: () => notificationQueues(services.stores.records, settings.notify),
    heldNotifications: heldNotifications(services.stores.records),
    space: () => services.blobs.space(),
    storeFault,
    batchJobs: createBatchJobs({
      records: services.records,
      objects: services.objects,
      random: randomBytes,
      clock: Date.now,
      replication: { open: batchRemotes(services.objects), sealed: services.sealed },
    }),
    maintenance: createMaintenance({ records: services.records, blobs: services.blobs, addresses: stores }),
    ...(services.keyAdministration === undefined ? {} : { keys: services.keyAdministration }),
    keyLifecycle: createKeyLifecycle(services.records),
    tiers: new TierAdministration({
      configurations: services.tierConfigurations,
      records: services.records,
      objects: services.objects,
      log,
    }),
  };
}
