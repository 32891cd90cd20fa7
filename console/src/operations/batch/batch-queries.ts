import { useQuery } from '@tanstack/react-query';
import { admin, adminText } from '../../api/admin.ts';
import { useApiMutation } from '../../api/queries.ts';
import { isRefresh } from '../../api/call.ts';

/** A batch job, as `coffer/batch-jobs` lists it. */
export interface BatchJobRow {
  readonly id: string;
  readonly type: 'expire' | 'keyrotate' | 'replicate';
  readonly bucket: string;
  readonly user: string;
  readonly started: string;
  readonly updated: string;
  /** Absent while it waits or runs. */
  readonly ended?: string;
  /** True where a user cancelled it. */
  readonly cancelled?: boolean;
  /** All keys up to this one are done. */
  readonly lastKey?: string;
  readonly objects: number;
  readonly deleteMarkers: number;
  readonly failed: number;
  /** Bytes that a replication transferred. */
  readonly bytes?: number;
  /** The first failure. */
  readonly failure?: { readonly key: string; readonly message: string };
}

/** The jobs, the newest first: those that wait or run, and the last ones that ended. */
export function useBatchJobs() {
  return useQuery({
    queryKey: ['batch-jobs'],
    queryFn: async (query) => {
      const request = { refresh: isRefresh(query) };
      return (await admin<{ readonly jobs: readonly BatchJobRow[] }>('GET', 'coffer/batch-jobs', request)).jobs;
    },
    refetchInterval: ({ state: { data } }) =>
      data?.some(({ ended }) => ended === undefined) === true ? 2_000 : 15_000,
  });
}

export function useStartJob() {
  return useApiMutation(
    (definition: string) => admin<{ readonly id: string }>('POST', 'start-job', { body: definition }),
    ['batch-jobs'],
  );
}

export function useCancelJob() {
  return useApiMutation((id: string) => admin('DELETE', 'cancel-job', { query: { id } }), ['batch-jobs']);
}

/** The YAML of a job that waits or runs. */
export function useDefinition(jobId: string) {
  return useQuery({
    queryKey: ['batch-definition', jobId],
    queryFn: () => adminText('GET', 'describe-job', { query: { jobId } }),
  });
}
