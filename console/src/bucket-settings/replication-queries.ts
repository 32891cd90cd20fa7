import { useQuery } from '@tanstack/react-query';
import { admin, adminText } from '../api/admin.ts';
import { useApiMutation } from '../api/queries.ts';
import { s3 } from '../api/s3.ts';
import { configuration, editConfiguration, expectSame, subresources } from '../api/configuration.ts';
import { replicationDocument, replicationRule, type ReplicationRule } from './replication-rules.ts';
import type { XmlNode } from '../../../protocol/s3/xml-reader.ts';
import { isRefresh } from '../api/call.ts';

interface Replication {
  /** Undefined for a bucket without rules. */
  readonly root: XmlNode | undefined;
  readonly rules: readonly ReplicationRule[];
}

export function useReplication(bucket: string) {
  return useQuery({
    queryKey: ['replication', bucket],
    queryFn: async (): Promise<Replication> => {
      const root = (await configuration(bucket, subresources.replication))?.root;
      return { root, rules: root?.children.filter(({ name }) => name === 'Rule').map(replicationRule) ?? [] };
    },
  });
}

/** Writes the rules into the document that they come from. */
export function useSetReplication(bucket: string) {
  return useApiMutation(
    ({ root, rules }: Replication) =>
      editConfiguration(bucket, subresources.replication, (now) => {
        expectSame(now, root);
        return rules.length === 0 ? undefined : replicationDocument(rules, root);
      }),
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

interface NewTarget {
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
  /** The changes that the target refuses. */
  readonly held?: { readonly events: number; readonly error: string };
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
