import { useQuery } from '@tanstack/react-query';
import { admin, adminText } from '../api/admin.ts';
import { useApiMutation } from '../api/queries.ts';
import { childrenOf, s3, s3Document, textIn, unlessAbsent } from '../api/s3.ts';
import { replicationDocument, type ReplicationRule } from './replication-rules.ts';
import { isRefresh } from '../api/call.ts';

interface Replication {
  readonly role: string;
  readonly rules: readonly ReplicationRule[];
}

export function useReplication(bucket: string) {
  return useQuery({
    queryKey: ['replication', bucket],
    queryFn: async (): Promise<Replication> => {
      const root = await unlessAbsent(
        ['ReplicationConfigurationNotFoundError'],
        s3Document('GET', bucket, { query: { replication: '' } }),
      );
      if (root === undefined) return { role: '', rules: [] };
      return { role: textIn(root, 'Role') ?? '', rules: childrenOf(root, 'Rule').map(ruleOf) };
    },
  });
}

const edited = new Set([
  'ID',
  'Status',
  'Priority',
  'DeleteMarkerReplication',
  'DeleteReplication',
  'Destination',
  'Filter',
  'Prefix',
  'ExistingObjectReplication',
]);

function ruleOf(element: Element): ReplicationRule {
  const is = (name: string) => {
    const found = childrenOf(element, name)[0];
    return found !== undefined && textIn(found, 'Status') === 'Enabled';
  };
  const filter = childrenOf(element, 'Filter')[0];
  const destination = childrenOf(element, 'Destination')[0];
  const hasTags = filter !== undefined && filter.getElementsByTagNameNS('*', 'Tag').length > 0;
  return {
    id: textIn(element, 'ID') ?? '',
    enabled: textIn(element, 'Status') === 'Enabled',
    priority: Number(textIn(element, 'Priority') ?? 0),
    target: (destination && textIn(destination, 'Bucket')) ?? '',
    prefix: (filter === undefined ? textIn(element, 'Prefix') : textIn(filter, 'Prefix')) ?? '',
    deleteMarkers: is('DeleteMarkerReplication'),
    deletes: is('DeleteReplication'),
    existingObjects: is('ExistingObjectReplication'),
    kept: [...element.children].filter(({ localName }) => !edited.has(localName)).map(markupOf),
    ...(hasTags && { otherFilter: markupOf(filter) }),
  };
}

function markupOf(element: Element): string {
  return new XMLSerializer().serializeToString(element);
}

export function useSetReplication(bucket: string) {
  return useApiMutation(
    async ({ role, rules }: Replication) => {
      const query = { replication: '' };
      if (rules.length === 0) await s3('DELETE', bucket, { query });
      else await s3('PUT', bucket, { query, body: replicationDocument(rules, role) });
    },
    ['replication', 'replication-metrics'],
  );
}

/** A server to which the bucket is replicated. */
export interface RemoteTarget {
  readonly arn: string;
  readonly endpoint: string;
  readonly secure: boolean;
  readonly targetbucket: string;
  readonly credentials: { readonly accessKey: string };
  readonly isOnline: boolean;
}

export function useRemoteTargets(bucket: string, enabled: boolean) {
  return useQuery({
    queryKey: ['remote-targets', bucket],
    queryFn: (context) =>
      admin<readonly RemoteTarget[]>('GET', 'list-remote-targets', {
        query: { bucket, type: 'replication' },
        refresh: isRefresh(context),
      }),
    enabled,
    refetchInterval: 15_000,
  });
}

export interface NewTarget {
  readonly endpoint: string;
  readonly secure: boolean;
  readonly targetBucket: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

/** Adds a target. The server tries the connection first. */
export function useAddTarget(bucket: string) {
  return useApiMutation(
    async ({ endpoint, secure, targetBucket, accessKey, secretKey }: NewTarget) => {
      const credentials = { accessKey, secretKey };
      const body = { endpoint, secure, targetbucket: targetBucket, credentials, type: 'replication' };
      await adminText('PUT', 'set-remote-target', { query: { bucket }, body: JSON.stringify(body) });
    },
    ['remote-targets'],
  );
}

export function useRemoveTarget(bucket: string) {
  return useApiMutation(
    (arn: string) => adminText('DELETE', 'remove-remote-target', { query: { bucket, arn } }),
    ['remote-targets'],
  );
}

interface TargetProgress {
  readonly completedReplicationSize: number;
  readonly replicationCount: number;
  readonly failedReplicationCount: number;
  readonly pendingReplicationSize: number;
  readonly pendingReplicationCount: number;
  /** Since when the oldest version waits. */
  readonly waitingSince?: string;
  readonly failure?: { readonly since: string; readonly error: string };
}

/** The progress of each target by its ARN. */
export function useProgress(bucket: string, enabled: boolean) {
  return useQuery({
    queryKey: ['replication-metrics', bucket],
    queryFn: async () => {
      const answer = await s3('GET', bucket, { query: { 'replication-metrics': '' } });
      const { Stats = {} } = (await answer.json()) as { readonly Stats?: Readonly<Record<string, TargetProgress>> };
      return Stats;
    },
    enabled,
    refetchInterval: 5_000,
  });
}

/** Sends what is there to a target again. */
export function useResync(bucket: string) {
  return useApiMutation(
    async (arn: string) => {
      await s3('PUT', bucket, { query: { 'replication-reset': '', arn } });
    },
    ['replication-metrics'],
  );
}
