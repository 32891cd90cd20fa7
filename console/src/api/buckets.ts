import { infiniteQueryOptions, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  BucketAnswer,
  BucketEncryptionAnswer,
  BucketList,
  BucketSummary,
} from '../../../protocol/console/answers.ts';
import { admin } from './admin.ts';
import { call } from './call.ts';
import { unlessChanged } from './configuration.ts';
import { ResponseError } from '../../../protocol/response-error.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

/** The server answers all buckets at once: the list has one page. */
const bucketList = infiniteQueryOptions({
  queryKey: ['buckets'],
  queryFn: () => call<BucketList>('GET', '/buckets'),
  initialPageParam: '',
  getNextPageParam: () => undefined,
});

/** The buckets whose names contain the text. */
export function useBuckets(contains: string) {
  return useInfiniteQuery({
    ...bucketList,
    select: ({ pages }): readonly BucketSummary[] =>
      pages.flatMap(({ buckets }) => buckets.filter(({ name }) => name.includes(contains.trim().toLowerCase()))),
  });
}

/** Returns a function that reports if the user sees a bucket of this name. It reports false if the list cannot be loaded. */
export function useIsBucket(): (name: string) => Promise<boolean> {
  const client = useQueryClient();
  return async (name) => {
    try {
      const { pages } = await client.fetchInfiniteQuery({ ...bucketList, staleTime: 60_000 });
      return pages.some(({ buckets }) => buckets.some((bucket) => bucket.name === name));
    } catch (error) {
      if (error instanceof ResponseError) return false;
      throw error;
    }
  };
}

/** Reports whether the user may create a bucket. While the answer is on its way, no button appears and goes. */
export function useMayCreate(): boolean {
  return useInfiniteQuery({ ...bucketList, select: ({ pages }) => pages[0]?.mayCreate === true }).data === true;
}

/** The time at which the server counted objects and bytes; undefined before the first count. */
export function useCountTime(): string | undefined {
  return useInfiniteQuery({ ...bucketList, select: ({ pages }) => pages[0]?.counted }).data;
}

export function useBucket(bucket: string, prefix = '') {
  return useQuery({
    queryKey: ['bucket', bucket, prefix],
    queryFn: () => call<BucketAnswer>('GET', bucketPath(bucket), { query: { prefix } }),
  });
}

interface BucketForm {
  readonly name: string;
  readonly encryption?: BucketEncryptionAnswer | undefined;
  readonly versioning: boolean;
  readonly objectLock: boolean;
  readonly tags: Readonly<Record<string, string>>;
}

/** A bucket with the options of its form. */
export interface NewBucket extends BucketForm {
  /** Bytes; 0 for no quota. */
  readonly quota: number;
}

/** Creates a bucket. Its quota needs a right of its own, so that the bucket may be there when setting the quota fails. */
export function useCreateBucket() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: async ({ quota, ...form }: NewBucket) => {
      const made = await call<BucketSummary>('POST', '/buckets', { body: form });
      if (quota > 0) await setQuota(form.name, quota).catch((error: unknown) => rejectWithBucket(form.name, error));
      return made;
    },
    onSettled: refresh,
  });
}

function rejectWithBucket(name: string, error: unknown): never {
  if (!(error instanceof ResponseError)) throw error;
  throw new ResponseError(
    error.code,
    say(t.shell.theBucketIsCreatedWithoutItsQuota, { name, message: error.message }),
    { status: error.status },
  );
}

/** Sets the maximum size of a bucket in bytes; 0 removes it. */
export async function setQuota(bucket: string, bytes: number): Promise<void> {
  await admin('PUT', 'set-bucket-quota', {
    query: { bucket },
    body: JSON.stringify({ quota: bytes, quotatype: 'hard' }),
  });
}

export function useDeleteBucket() {
  const refresh = useRefresh();
  return useMutation({ mutationFn: (bucket: string) => call('DELETE', bucketPath(bucket)), onSuccess: refresh });
}

interface EncryptionChange {
  /** The `encryptionTag` that the form was filled with. */
  readonly expects: string | undefined;
  /** Undefined removes it. */
  readonly encryption: BucketEncryptionAnswer | undefined;
}

/** Sets the default encryption, where nobody else has changed it meanwhile. */
export function useSetEncryption(bucket: string) {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ expects, encryption }: EncryptionChange) =>
      unlessChanged(
        encryption === undefined
          ? call('DELETE', `${bucketPath(bucket)}/encryption`, { query: { expects } })
          : call('PUT', `${bucketPath(bucket)}/encryption`, { query: { expects }, body: encryption }),
      ),
    onSettled: refresh,
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
