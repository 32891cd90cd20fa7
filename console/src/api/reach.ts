import { useMutation } from '@tanstack/react-query';
import type { LifecyclePreview, ReachedBuckets, ReachList } from '../../../protocol/console/reach-answers.ts';
import { bucketPath } from './buckets.ts';
import { call } from './call.ts';
import { useList } from './queries.ts';

/** Returns the users who can reach a bucket. */
export function useReach(bucket: string) {
  return useList({
    key: ['reach', bucket],
    path: `${bucketPath(bucket)}/reach`,
    query: {},
    rowsOf: ({ rows }: ReachList) => rows,
  });
}

/** Returns the buckets that a user or an access key can reach. */
export function useReachedBuckets(name: string) {
  return useList({
    key: ['reached-buckets', name],
    path: '/reached-buckets',
    query: { name },
    rowsOf: ({ buckets }: ReachedBuckets) => buckets,
  });
}

/** Asks what lifecycle rules would remove. */
export function useLifecyclePreview(bucket: string) {
  return useMutation({
    mutationFn: (document: string) =>
      call<LifecyclePreview>('POST', `${bucketPath(bucket)}/lifecycle-preview`, { body: { document } }),
  });
}
