import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { BucketAnswer, BucketEncryptionAnswer, BucketList, BucketSummary } from '../../../contract/answers.ts';
import { call } from './call.ts';

export function useBuckets() {
  return useQuery({ queryKey: ['buckets'], queryFn: () => call<BucketList>('GET', '/buckets') });
}

export function useBucket(bucket: string, prefix = '') {
  return useQuery({
    queryKey: ['bucket', bucket, prefix],
    queryFn: () => call<BucketAnswer>('GET', bucketPath(bucket), { query: { prefix } }),
  });
}

export interface BucketForm {
  readonly name: string;
  readonly encryption?: BucketEncryptionAnswer;
}

export function useCreateBucket() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (form: BucketForm) => call<BucketSummary>('POST', '/buckets', { body: form }),
    onSuccess: refresh,
  });
}

export function useDeleteBucket() {
  const refresh = useRefresh();
  return useMutation({ mutationFn: (bucket: string) => call('DELETE', bucketPath(bucket)), onSuccess: refresh });
}

/** Sets the default encryption, or takes it away. */
export function useSetEncryption(bucket: string) {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (encryption: BucketEncryptionAnswer | undefined) =>
      encryption === undefined
        ? call('DELETE', `${bucketPath(bucket)}/encryption`)
        : call('PUT', `${bucketPath(bucket)}/encryption`, { body: encryption }),
    onSuccess: refresh,
  });
}

export function bucketPath(bucket: string): string {
  return `/buckets/${encodeURIComponent(bucket)}`;
}

function useRefresh() {
  const client = useQueryClient();
  return async () => {
    await Promise.all(['buckets', 'bucket'].map((name) => client.invalidateQueries({ queryKey: [name] })));
  };
}
