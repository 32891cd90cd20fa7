import type { BatchJobRow } from './batch-queries.ts';

export type JobState = 'waits' | 'runs' | 'done' | 'failures' | 'cancelled';

/** Returns the state of each job by its ID. Jobs run one after the other, the oldest first. */
export function jobStates(
  jobs: readonly Pick<BatchJobRow, 'id' | 'started' | 'ended' | 'failed' | 'cancelled'>[],
): ReadonlyMap<string, JobState> {
  const [running] = jobs
    .filter(({ ended }) => ended === undefined)
    .toSorted((a, b) => (a.started < b.started ? -1 : 1));
  return new Map(
    jobs.map((job) => {
      if (job.ended === undefined) return [job.id, job.id === running?.id ? 'runs' : 'waits'];
      if (job.cancelled === true) return [job.id, 'cancelled'];
      return [job.id, job.failed > 0 ? 'failures' : 'done'];
    }),
  );
}
