import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { adminOf, jsonLines, type AdminClient } from '../admin-client.ts';
import { documentText } from '../../terminal/document-text.ts';
import type { Context } from '../context.ts';
import { batchTemplates } from './batch-templates.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

interface BatchJob {
  readonly id: string;
  readonly type: string;
  readonly user?: string;
  readonly started: string;
}

/** Prints the description of a job to fill in. */
export async function generateJob(context: Context, [alias = '', kind = '']: readonly string[]): Promise<void> {
  await adminOf(context, alias);
  const template = Object.hasOwn(batchTemplates, kind)
    ? batchTemplates[kind as keyof typeof batchTemplates]
    : undefined;
  if (template === undefined) {
    throw new ProgramError(
      'BadArgument',
      `Unknown kind of job \`${kind}\`: there are ${Object.keys(batchTemplates).join(', ')}`,
    );
  }
  context.io.stdout.write(`${template}\n`);
}

export async function startJob(context: Context, [alias = '', file = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const result = await admin.json<BatchJob>({ method: 'POST', call: 'start-job', body: await readFile(file) });
  context.output.message(`Successfully started '${result.type}' job \`${result.id}\` on '${result.started}'`, {
    result,
  });
}

/** A job that ended, as a Coffer keeps it. */
interface EndedJob extends BatchJob {
  readonly ended: string;
  readonly failed: number;
  readonly cancelled?: boolean;
}

/** Shows the jobs that run or wait, as `mc` does, and then those that ended, which a Coffer keeps. */
export async function listJobs(
  context: Context,
  [alias = '']: readonly string[],
  { type = '' }: { readonly type?: string },
): Promise<void> {
  const admin = await adminOf(context, alias);
  const answer = await admin.json<{ readonly jobs?: readonly BatchJob[] | null }>({
    method: 'GET',
    call: 'list-jobs',
    query: { jobType: type },
  });
  const listed = answer.jobs ?? null;
  const after = await endedJobs(admin);
  const ended = after.kind === 'kept' ? after.jobs.filter((job) => type === '' || job.type === type) : undefined;
  // A job may have ended between both calls.
  const jobs = listed?.filter(({ id }) => ended?.every((job) => job.id !== id) !== false) ?? null;
  const rows = (jobs ?? []).map((job) => [job.id, job.type, job.user ?? '', job.started]);
  const running = rows.length === 0 ? 'No jobs run now' : context.output.table(['ID', 'Type', 'User', 'Started'], rows);
  context.output.message([running, ...endedTable(context, ended ?? [])].join('\n\n'), {
    jobs,
    ...(ended && { ended }),
  });
  if (after.kind === 'failed') throw after.error;
}

/** The jobs that ended. A MinIO keeps none. */
type EndedJobs =
  | { readonly kind: 'kept'; readonly jobs: readonly EndedJob[] }
  | { readonly kind: 'none' }
  | { readonly kind: 'failed'; readonly error: unknown };

/** The statuses by which a server refuses an admin call that it does not offer. */
const unknownCall: ReadonlySet<number> = new Set([404, 426]);

/** Does not reject: the jobs that run are shown before the failure. */
async function endedJobs(admin: AdminClient): Promise<EndedJobs> {
  try {
    const { jobs } = await admin.json<{ readonly jobs: readonly (BatchJob & Partial<EndedJob>)[] }>({
      method: 'GET',
      api: 'coffer',
      call: 'batch-jobs',
    });
    return { kind: 'kept', jobs: jobs.filter((job): job is EndedJob => job.ended !== undefined) };
  } catch (error) {
    if (error instanceof ResponseError && unknownCall.has(error.status)) return { kind: 'none' };
    return { kind: 'failed', error };
  }
}

function endedTable(context: Context, ended: readonly EndedJob[]): readonly string[] {
  if (ended.length === 0) return [];
  const rows = ended.map((job) => [job.id, job.type, job.user ?? '', job.started, job.ended, stateOf(job)]);
  return [context.output.table(['ID', 'Type', 'User', 'Started', 'Ended', 'State'], rows)];
}

function stateOf({ cancelled, failed }: EndedJob): string {
  if (cancelled === true) return 'cancelled';
  return failed > 0 ? 'failed' : 'complete';
}

export async function describeJob(context: Context, [alias = '', id = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const { bytes } = await admin.bytes({ method: 'GET', call: 'describe-job', query: { jobId: id } });
  context.io.stdout.write(`${bytes.toString('utf8')}\n`);
}

/** The progress of a job. */
interface JobMetric {
  readonly complete?: boolean;
  readonly failed?: boolean;
}

/** Shows the state of a job until it ends; of an earlier job its last state. */
export async function jobStatus(context: Context, [alias = '', id = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  if (!(await isRunning(admin, id))) {
    const { LastMetric: metric = {} } = await admin.json<{ readonly LastMetric?: JobMetric }>({
      method: 'GET',
      call: 'status-job',
      query: { jobId: id },
    });
    context.output.message(documentText(metric), { metric });
    return;
  }
  for (;;) {
    const metric = await lastMetric(admin, id);
    if (metric === undefined) return;
    const status = metric.complete === true ? 'complete' : metric.failed === true ? 'failed' : 'in-progress';
    context.output.message(documentText(metric), { status, metric });
    if (status !== 'in-progress') return;
    await sleep(1_000, undefined, { signal: context.signal });
  }
}

async function isRunning(admin: AdminClient, id: string): Promise<boolean> {
  try {
    await admin.bytes({ method: 'GET', call: 'describe-job', query: { jobId: id } });
    return true;
  } catch (error) {
    if (error instanceof ResponseError && error.code === 'XMinioAdminNoSuchJob') return false;
    throw error;
  }
}

interface Metrics {
  readonly aggregated?: { readonly batchJobs?: { readonly Jobs?: Readonly<Record<string, JobMetric>> } };
}

/** The type of the metrics of jobs in the admin API. */
const batchMetrics = 8;

async function lastMetric(admin: AdminClient, id: string): Promise<JobMetric | undefined> {
  const query = { types: String(batchMetrics), n: '1', 'by-jobID': id, interval: '1s' };
  const { body } = await admin.stream({ method: 'GET', call: 'metrics', query });
  for await (const { aggregated } of jsonLines<Metrics>(body)) return aggregated?.batchJobs?.Jobs?.[id];
  return undefined;
}

export async function cancelJob(context: Context, [alias = '', id = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  await admin.send({ method: 'DELETE', call: 'cancel-job', query: { id } });
  context.output.message(`Successfully canceled batch job \`${id}\``, { 'job-id': id });
}
