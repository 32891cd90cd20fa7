import { Router } from 'express';
import { z } from 'zod';
import type { AuditEntry } from '../../../observability/audit/audit-entry.ts';
import { searchAuditFile } from '../../../observability/audit/search-audit-file.ts';
import type { TaskProgress } from '../../../maintenance/task-progress.ts';
import { checkHealth } from '../../../observability/health/health-checks.ts';
import type {
  AuditAnswer,
  AuditRow,
  BucketGrowthAnswer,
  HealthAnswer,
  MetricsAnswer,
  UsageHistoryAnswer,
  WorkAnswer,
  WorkProgress,
} from '../../../../protocol/console/operations-answers.ts';
import type { ConsoleServices, OperationsServices } from '../../services.ts';
import { type Authorizer, readForm } from '../authorize.ts';
import { bucketOf } from '../bucket-routes.ts';
import { consoleError } from '../console-error.ts';

/** Minutes of a chart. */
const spans = z.coerce.number().int().min(5).max(1_440);

const text = z
  .string()
  .max(256)
  .transform((value) => value.trim() || undefined)
  .optional();

const auditQuery = z.strictObject({
  who: text,
  bucket: text,
  operation: text,
  decision: z.enum(['allow', 'deny']).optional(),
  outcome: z.enum(['failed', 'succeeded']).optional(),
  refreshes: z.enum(['left-out']).optional(),
  before: z.coerce.number().int().min(0).optional(),
});

const pauseForm = z.strictObject({
  task: z.string().max(40),
  /** 0 ends the pause. */
  minutes: z.number().int().min(0).max(1_440),
});

/** The calls of the pages about operations, beyond those of the admin API. */
export function operationsRoutes({ operations }: Pick<ConsoleServices, 'operations'>, authorizer: Authorizer): Router {
  const router = Router();
  if (operations === undefined) return router;

  router.get('/health', async (request, response) => {
    await authorizer.require({ request, response }, 'admin:ServerInfo', '');
    response.json({ checks: checkHealth(await operations.facts()) } satisfies HealthAnswer);
  });

  router.get('/metrics', async (request, response) => {
    await authorizer.require({ request, response }, 'admin:Prometheus', '');
    const minutes = spans.parse(request.query['minutes'] ?? 60);
    const server = text.parse(request.query['server']);
    response.json((await operations.history.read(minutes * 60_000, server)) satisfies MetricsAnswer);
  });

  router.get('/usage-history', async (request, response) => {
    await authorizer.require({ request, response }, 'admin:DataUsageInfo', '');
    response.json({ days: await operations.usageHistory.read() } satisfies UsageHistoryAnswer);
  });

  // A caller that may list the bucket may count its objects.
  router.get('/buckets/:bucket/growth', async (request, response) => {
    const bucket = bucketOf(request);
    await authorizer.require({ request, response }, 's3:ListBucket', bucket);
    const days = (await operations.usageHistory.read()).flatMap(({ day, buckets }) => {
      const found = buckets.find((one) => one.bucket === bucket);
      return found === undefined ? [] : [{ day, objects: found.objects, bytes: found.bytes }];
    });
    response.json({ days } satisfies BucketGrowthAnswer);
  });

  router.get('/audit', async (request, response) => {
    await authorizer.require({ request, response }, 'admin:ReadAuditLog', '');
    response.json(await auditAnswer(operations, auditQuery.parse(request.query)));
  });

  router.get('/work', async (request, response) => {
    await authorizer.require({ request, response }, 'admin:ServerInfo', '');
    response.json(await workAnswer(operations));
  });

  router.put('/work/pause', async (request, response) => {
    await authorizer.require({ request, response }, 'admin:PauseBackgroundTask', '');
    const { task, minutes } = await readForm({ request, response }, pauseForm);
    const known = operations.pausable.find((one) => one === task);
    if (known === undefined) throw consoleError('BadRequest', `The task ${task} cannot be paused.`, { field: 'task' });
    await (minutes === 0 ? operations.pauses.resume(known) : operations.pauses.pause(known, minutes * 60_000));
    response.status(204).end();
  });

  return router;
}

/** Searches of all sessions together: each may read 32 MiB. */
const maxSearches = 2;
let searches = 0;

async function auditAnswer(
  { auditFile }: Pick<OperationsServices, 'auditFile'>,
  { before, who, bucket, operation, decision, outcome, refreshes }: z.infer<typeof auditQuery>,
): Promise<AuditAnswer> {
  if (auditFile === undefined) return { kind: 'no-file' };
  if (searches >= maxSearches) {
    throw consoleError('Busy', 'Other searches of the audit log are running. Try again in a moment.');
  }
  searches += 1;
  try {
    const search = { before, who, bucket, operation, decision, outcome, refreshes };
    const given = Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined));
    const { entries, ...place } = await searchAuditFile(auditFile, given);
    return { kind: 'found', entries: entries.map(auditRow), ...place };
  } finally {
    searches -= 1;
  }
}

function auditRow(entry: AuditEntry): AuditRow {
  const { api, identity, accessKey, bearer } = entry;
  return {
    id: entry.requestID,
    time: entry.time,
    operation: api.name || entry.requestPath || 'unknown',
    ...(api.bucket === undefined ? {} : { bucket: api.bucket }),
    ...(api.object === undefined ? {} : { object: api.object }),
    status: api.statusCode,
    who: identity?.name ?? bearer?.name ?? accessKey ?? 'anonymous',
    address: entry.remotehost,
    ...(entry.error === undefined ? {} : { error: entry.error }),
    decisions: entry.decisions ?? [],
    entry,
  };
}

async function workAnswer({ tasks, progress, pauses, pausable }: OperationsServices): Promise<WorkAnswer> {
  const [found, progresses, paused] = await Promise.all([tasks(), progress(), pauses.all()]);
  const rows = found.map(({ task, lastSuccess, failure }) => {
    const name = pausable.find((one) => one === task);
    const until = name === undefined ? undefined : paused[name];
    return {
      task,
      ...(lastSuccess === undefined ? {} : { lastSuccess: time(lastSuccess) }),
      ...(failure === undefined
        ? {}
        : { failure: { ...failure, since: time(failure.since), retryAt: time(failure.retryAt) } }),
      pausable: name !== undefined,
      ...(until === undefined ? {} : { pausedUntil: time(until) }),
      ...progressOf(progresses[task]),
    };
  });
  return { tasks: rows };
}

function progressOf(found: TaskProgress | undefined): { readonly progress?: WorkProgress } {
  if (found?.kind !== 'queue') return found === undefined ? {} : { progress: found };
  const { oldest, ...queue } = found;
  return { progress: { ...queue, ...(oldest === undefined ? {} : { oldest: time(oldest) }) } };
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
