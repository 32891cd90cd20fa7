import type { Logger } from '../../platform/output/logger.ts';
import type { AdminServices, OtherServer, ServerProcess } from '../administration/services.ts';
import type { ServerFacts } from '../cluster/server-registry.ts';
import type { AuditTargetSums } from '../observability/audit/audit-tally.ts';
import { adminServices } from './admin-services.ts';
import { type CannedAclRule, ignoreAndReportOnce } from '../s3/acl/canned-acl-rule.ts';
import { openDiagnostics } from './open-diagnostics.ts';
import { openReplications } from './replications.ts';
import type { Services } from './services.ts';
import type { SharedS3Services } from './session-s3.ts';
import { openCallableServers } from './sites.ts';
import type { ThreadOptions } from './threads.ts';
import type { Waiting } from './wait-for-dependencies.ts';

/** What a thread has when it can answer requests. */
export interface ApiStart {
  /** The S3 address. */
  readonly endpoint: string;
  readonly deploymentId: string;
  readonly others: () => readonly OtherServer[];
  readonly live: () => readonly ServerFacts[];
  readonly auditSums: () => readonly AuditTargetSums[];
  readonly storeFault: () => Waiting | undefined;
  readonly process: ServerProcess;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
}

/** Makes what the APIs of the HTTP threads and of the console have in common. */
export function apiServices(
  options: ThreadOptions,
  services: Services,
  start: ApiStart,
  log: Logger,
): {
  readonly administration: Omit<AdminServices, 'authenticate'>;
  readonly s3: SharedS3Services & Pick<Services, 'access'>;
} {
  const { settings } = options;
  const replications = openReplications(services, options.startedAt, start.stopping);
  const administration = {
    ...adminServices(options, services, { ...start, log }),
    others: start.others,
    callableServers: () =>
      openCallableServers({
        live: start.live,
        self: options.serverId,
        root: settings.root,
        secure: options.tls !== undefined,
      }),
    remoteTargets: replications.targets,
    replicationBacklog: replications.backlog,
    diagnostics: openDiagnostics(options, services, start),
  };
  return {
    administration,
    s3: {
      objects: services.objects,
      access: services.access,
      region: settings.region,
      hasRegion: settings.regionEnforced,
      clock: () => new Date(),
      cannedAcls: cannedAclRule(settings.cannedAcls, log),
      customerKeysWithoutTls: settings.customerKeysWithoutTls,
      queryBudget: settings.queryBudget,
      notificationTargets: administration.notificationTargets ?? [],
      replications: replications.s3,
    },
  };
}

function cannedAclRule(kind: ThreadOptions['settings']['cannedAcls'], log: Logger): CannedAclRule {
  if (kind === 'refuse') return { kind };
  return ignoreAndReportOnce(({ bucket, acl, program, userAgent }) => {
    log.warn(
      { event: 'acl-ignored', bucket, acl, program, userAgent },
      `requests of "${program}" to bucket "${bucket}" ask for the ACL "${acl}", which is ignored: ACLs do not count there. ` +
        'Give access by a bucket policy, or set SVC_API_ACL=refuse to refuse such requests',
    );
  });
}
