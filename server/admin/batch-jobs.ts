import { keyStatus, requireKeys } from '../administration/keys.ts';
import { askerOf } from '../auth/asker.ts';
import { ownerOf } from '../auth/identities/subject.ts';
import { maxDefinition, parseBatchDefinition } from '../maintenance/batch/batch-definition.ts';
import { jobMetric } from '../maintenance/batch/job-metric.ts';
import { type BatchJob, type BatchJobs, isWaiting } from '../maintenance/batch/batch-jobs.ts';
import { rightsToRotate, rightsToStart } from '../maintenance/batch/job-rights.ts';
import { MaintenanceError } from '../maintenance/maintenance-error.ts';
import {
  type AdminAnswer,
  type AdminCall,
  adminPath,
  authorizeAll,
  cofferPath,
  conditionsOf,
  json,
  nothing,
  nowOf,
  type Route,
} from './call.ts';
import { adminError } from '../administration/admin-error.ts';

/** The calls of `mc batch`. */
export const batchRoutes: readonly Route[] = [
  { method: 'POST', path: adminPath('start-job'), action: 'admin:StartBatchJob', serve: start },
  { method: 'GET', path: adminPath('list-jobs'), action: 'admin:ListBatchJobs', serve: list },
  { method: 'GET', path: cofferPath('batch-jobs'), action: 'admin:ListBatchJobs', serve: listKept },
  { method: 'GET', path: adminPath('status-job'), action: 'admin:ListBatchJobs', serve: status },
  { method: 'GET', path: adminPath('describe-job'), action: 'admin:DescribeBatchJob', serve: describe },
  { method: 'DELETE', path: adminPath('cancel-job'), action: 'admin:CancelBatchJob', serve: cancel },
];

async function start(call: AdminCall): Promise<AdminAnswer> {
  const definition = (await call.body(4 * maxDefinition)).toString();
  const { principal } = call;
  const user = principal.kind === 'root' ? principal.accessKey : ownerOf(principal.subject);
  return explained(async () => {
    await checkRights(call, definition);
    const job = await jobsOf(call).start(definition, user, askerOf(principal, conditionsOf(call)));
    return json(shown(call, job));
  });
}

/** A job gives no more than single calls. It asks for the rights to each version again when it runs. */
async function checkRights(call: AdminCall, definition: string): Promise<void> {
  const job = parseBatchDefinition(definition, nowOf(call.services).getTime());
  if (job.type !== 'keyrotate') return authorizeAll(call, rightsToStart(job));
  const { source } = requireKeys(call);
  await authorizeAll(call, rightsToRotate(job, source.defaultKey));
  const to = job.keyName ?? source.defaultKey;
  const issue = (await keyStatus(source, to))['encryption-error'];
  if (issue !== undefined) throw adminError('XMinioKMSKeyNotFound', `The key ${to} cannot be used: ${issue}`);
}

async function list(call: AdminCall): Promise<AdminAnswer> {
  const type = call.query.get('jobType') ?? '';
  const jobs = (await jobsOf(call).list()).filter((job) => isWaiting(job) && (type === '' || job.type === type));
  return json({ jobs: jobs.map((job) => shown(call, job)) });
}

/** Shows also the jobs that ended, as long as they are kept, the newest first. */
async function listKept(call: AdminCall): Promise<AdminAnswer> {
  const jobs = await jobsOf(call).list();
  return json({ jobs: jobs.map(progressOf).toReversed() });
}

function progressOf({ definition: _definition, asker: _asker, started, updated, ended, after, ...job }: BatchJob) {
  return {
    ...job,
    ...(after !== undefined && { lastKey: after }),
    started: isoTime(started),
    updated: isoTime(updated),
    ...(ended !== undefined && { ended: isoTime(ended) }),
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

async function status(call: AdminCall): Promise<AdminAnswer> {
  return json({ LastMetric: jobMetric(await named(call, () => true)) });
}

/** As in MinIO, only a job that waits or runs has a definition. */
async function describe(call: AdminCall): Promise<AdminAnswer> {
  const { definition } = await named(call, isWaiting);
  return { kind: 'bytes', bytes: Buffer.from(definition), contentType: 'application/yaml' };
}

async function named(call: AdminCall, isWanted: (job: BatchJob) => boolean): Promise<BatchJob> {
  const id = call.required('jobId');
  const found = (await jobsOf(call).list()).find((job) => job.id === id && isWanted(job));
  if (found === undefined) throw adminError('XMinioAdminNoSuchJob', `There is no job ${id}.`);
  return found;
}

function cancel(call: AdminCall): Promise<AdminAnswer> {
  return explained(async () => {
    await jobsOf(call).cancel(call.required('id'));
    return { ...nothing, status: 204 };
  });
}

function shown({ services }: AdminCall, { id, type, user, started }: BatchJob) {
  const elapsedMs = Math.max(0, nowOf(services).getTime() - started);
  // Go counts durations in nanoseconds.
  return { id, type, user, started: isoTime(started), elapsed: elapsedMs * 1e6 };
}

export function jobsOf({ services }: AdminCall): BatchJobs {
  if (services.batchJobs !== undefined) return services.batchJobs;
  throw adminError('XCofferRefused', 'This server runs no batch jobs.');
}

async function explained(work: () => Promise<AdminAnswer>): Promise<AdminAnswer> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MaintenanceError)) throw error;
    const options = { cause: error };
    if (error.code === 'no-such-job') throw adminError('XMinioAdminNoSuchJob', error.message, options);
    if (error.code === 'no-such-bucket') throw adminError('NoSuchSourceBucket', error.message, options);
    if (error.code === 'no-such-target') throw adminError('NoSuchTargetBucket', error.message, options);
    if (error.code === 'busy') throw adminError('SlowDown', error.message, options);
    throw adminError('XMinioAdminInvalidArgument', error.message, options);
  }
}
