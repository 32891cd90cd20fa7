import { ProgramError } from '../../../platform/errors/program-error.ts';
import { getReplication } from '../../s3/replication.ts';
import { adminOf, jsonLines } from '../admin-client.ts';
import { parseDuration } from '../data/entries/times.ts';
import { documentText } from '../../terminal/document-text.ts';
import type { Context } from '../context.ts';
import { bucketOf } from '../bucket-of.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Shows how far the replication of a bucket is. */
export async function replicationStatus(
  context: Context,
  [argument = '']: readonly string[],
  { nodes = false }: { readonly nodes?: boolean },
): Promise<void> {
  const { client, target } = await bucketOf(context, argument);
  const { bucket } = target;
  const admin = await adminOf(context, target.aliasName);
  const { text } = await client.text({ method: 'GET', bucket, query: { 'replication-metrics': '2' } });
  const stats = JSON.parse(text) as Fields;
  const remoteTargets = await admin.json<readonly Fields[]>({
    method: 'GET',
    call: 'list-remote-targets',
    query: { bucket, type: '' },
  });
  await getReplication(client, bucket);
  if (nodes) {
    const queue = (stats['queueStats'] ?? {}) as Fields;
    context.output.message(documentText(queue), { op: 'status', ...queue });
    return;
  }
  const human = documentText({ stats, remoteTargets });
  context.output.message(human, { op: 'status', url: argument, replicationstats: stats, remoteTargets });
}

/** Sends what is there already, again. */
export async function startResync(
  context: Context,
  [argument = '']: readonly string[],
  { remoteBucket, olderThan }: { readonly remoteBucket?: string; readonly olderThan?: string },
): Promise<void> {
  if (!remoteBucket)
    throw new ProgramError(
      'BadArgument',
      'Name the ARN of the other bucket by --remote-bucket; `replicate ls` shows it',
    );
  const age = olderThan === undefined || olderThan === '' ? undefined : parseDuration('--older-than', olderThan);
  const { client, target } = await bucketOf(context, argument);
  const query = {
    'replication-reset': '',
    ...(age !== undefined && { 'older-than': goDuration(age) }),
    arn: remoteBucket,
  };
  const { text } = await client.text({ method: 'PUT', bucket: target.bucket, query });
  const resyncInfo = JSON.parse(text) as Fields;
  context.output.message(`Replication of ${argument} begins again.`, {
    op: 'start',
    url: argument,
    resyncInfo,
    targetArn: '',
  });
}

/** Ends what `startResync` has begun. */
export async function cancelResync(
  context: Context,
  [argument = '']: readonly string[],
  { remoteBucket = '' }: { readonly remoteBucket?: string },
): Promise<void> {
  const { client, target } = await bucketOf(context, argument);
  const query = { 'replication-reset-cancel': '', ...(remoteBucket !== '' && { arn: remoteBucket }) };
  const { text } = await client.text({ method: 'PUT', bucket: target.bucket, query });
  context.output.message(`No more of ${argument} is replicated again; what waits already is still sent.`, {
    op: 'cancel',
    url: argument,
    resyncID: text.trim(),
    targetArn: remoteBucket,
  });
}

/** Writes a duration as the server reads it: `36h0m0s`. */
function goDuration(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  return `${Math.floor(seconds / 3_600)}h${Math.floor(seconds / 60) % 60}m${seconds % 60}s`;
}

export async function resyncStatus(
  context: Context,
  [argument = '']: readonly string[],
  { remoteBucket = '' }: { readonly remoteBucket?: string },
): Promise<void> {
  const { client, target } = await bucketOf(context, argument);
  const query = { 'replication-reset-status': '', ...(remoteBucket !== '' && { arn: remoteBucket }) };
  const answer = await client.text({ method: 'GET', bucket: target.bucket, query });
  const resyncInfo = JSON.parse(answer.text) as Fields;
  const text = documentText(resyncInfo);
  context.output.message(text === '' ? 'No resync was started.' : text, {
    op: 'status',
    url: argument,
    resyncInfo,
    targetArn: remoteBucket,
  });
}

interface BacklogOptions {
  readonly arn?: string;
  readonly nodes?: string;
  readonly verbose?: boolean;
  readonly full?: boolean;
}

/** Shows what failed to replicate; with `full` all that is not replicated yet. */
export async function replicationBacklog(
  context: Context,
  [argument = '']: readonly string[],
  { arn = '', nodes = 'all', verbose = false, full = false }: BacklogOptions,
): Promise<void> {
  const { target } = await bucketOf(context, argument);
  const { bucket, key } = target;
  const admin = await adminOf(context, target.aliasName);
  const request = full
    ? ({
        method: 'POST',
        call: 'replication/diff',
        query: { bucket, prefix: key, arn, verbose: String(verbose) },
      } as const)
    : ({ method: 'GET', call: 'replication/mrf', query: { bucket, node: nodes } } as const);
  const { body } = await admin.stream(request);
  for await (const entry of jsonLines<Fields>(body)) {
    const fields = full ? { op: 'diff', diff: entry, opStatus: '' } : { op: 'mrf', ...entry };
    await context.output.line(JSON.stringify(entry), fields);
  }
}
