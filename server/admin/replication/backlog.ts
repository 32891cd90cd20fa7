import type { ReplicationBacklog } from '../../administration/services.ts';
import type { BacklogEntry } from '../../../protocol/admin/replication-backlog.ts';
import { type AdminAnswer, type AdminCall, adminPath, type Route } from '../call.ts';
import { adminError } from '../../administration/admin-error.ts';

/** The calls of `mc replicate backlog`: they list the versions that are not replicated yet. */
export const backlogRoutes: readonly Route[] = [
  { method: 'POST', path: adminPath('replication/diff'), action: 'admin:ReplicationDiff', serve: diff },
  { method: 'GET', path: adminPath('replication/mrf'), action: 'admin:ReplicationDiff', serve: failed },
];

/** `mc replicate backlog --full`: the versions and removals that wait; with `verbose` also what is replicated. */
async function diff(call: AdminCall): Promise<AdminAnswer> {
  const { query } = call;
  const list = await backlogOf(call).list({
    bucket: call.required('bucket'),
    prefix: query.get('prefix') ?? '',
    arn: query.get('arn') ?? '',
    show: query.get('verbose') === 'true' ? 'all' : 'waiting',
  });
  return { kind: 'lines', lines: (signal) => shown(list(signal), diffInfo) };
}

/** `mc replicate backlog`: what failed. This server shows all of them, as it has no list of its own of each server. */
async function failed(call: AdminCall): Promise<AdminAnswer> {
  const backlog = backlogOf(call);
  const bucket = call.required('bucket');
  const list = await backlog.list({ bucket, prefix: '', arn: '', show: 'failed' });
  const nodeName = call.services.server.endpoint;
  return {
    kind: 'lines',
    lines: (signal) =>
      shown(list(signal), ({ key, versionId, error }) => ({
        nodeName,
        bucket,
        object: key,
        versionId,
        retryCount: 0,
        // A stock mc ends at the first line with the field `error` of MinIO.
        ...(error !== undefined && { refused: error }),
      })),
  };
}

async function* shown(
  list: AsyncIterable<readonly BacklogEntry[]>,
  view: (entry: BacklogEntry) => object,
): AsyncGenerator<readonly object[]> {
  for await (const entries of list) yield entries.map(view);
}

/** @see https://github.com/minio/madmin-go/blob/main/replication-api.go DiffInfo */
function diffInfo({ key, versionId, targets, status, removal, modified, deleteMarker, error }: BacklogEntry): object {
  const field = removal ? 'drStatus' : 'rStatus';
  return {
    object: key,
    versionId,
    targets: Object.fromEntries(Object.entries(targets).map(([arn, at]) => [arn, { [field]: at }])),
    ...(removal ? { dStatus: status } : { rStatus: status }),
    lastModified: new Date(modified).toISOString(),
    deletemarker: deleteMarker,
    ...(error !== undefined && { refused: error }),
  };
}

function backlogOf({ services: { replicationBacklog } }: AdminCall): ReplicationBacklog {
  if (replicationBacklog !== undefined) return replicationBacklog;
  throw adminError('XCofferRefused', 'This server does not replicate buckets.');
}
