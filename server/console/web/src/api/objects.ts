import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ObjectDetails, ObjectPage, PrefixDeletion } from '../../../contract/answers.ts';
import { bucketPath } from './buckets.ts';
import { apiUrl, ApiError, call } from './call.ts';

export function useObjects(bucket: string, prefix: string) {
  return useInfiniteQuery({
    queryKey: ['objects', bucket, prefix],
    queryFn: ({ pageParam, signal }) =>
      call<ObjectPage>('GET', `${bucketPath(bucket)}/objects`, { query: { prefix, after: pageParam }, signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next,
  });
}

export function useObject(bucket: string, key: string) {
  return useQuery({
    queryKey: ['object', bucket, key],
    queryFn: () => call<ObjectDetails>('GET', `${bucketPath(bucket)}/object`, { query: { key } }),
  });
}

export function contentUrl(bucket: string, key: string): string {
  return apiUrl(`${bucketPath(bucket)}/content`, { key });
}

/** Downloads an object. It reads the metadata first, so that the page shows a refusal instead of a failed download. */
export async function download(bucket: string, key: string): Promise<void> {
  await call<ObjectDetails>('GET', `${bucketPath(bucket)}/object`, { query: { key } });
  const link = document.createElement('a');
  link.href = contentUrl(bucket, key);
  link.download = '';
  link.click();
}

export interface Deletion {
  readonly keys: readonly string[];
  /** Prefixes, which end in `/`, with everything below them. */
  readonly folders: readonly string[];
}

/** Deletes objects and folders. It tries all, and then fails with the first refusal. */
export function useDelete(bucket: string, progress: (deleted: number) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ keys, folders }: Deletion) => {
      let deleted = 0;
      const refused: string[] = [];
      for (const key of keys) {
        const message = await tryDelete(bucket, key);
        if (message === undefined) deleted += 1;
        else refused.push(message);
        progress(deleted);
      }
      for (const folder of folders) {
        for (let after: string | undefined = ''; after !== undefined;) {
          const round: PrefixDeletion = await call('DELETE', `${bucketPath(bucket)}/objects`, {
            query: { prefix: folder, after },
          });
          deleted += round.deleted;
          refused.push(...round.refused.map(({ message }) => message));
          progress(deleted);
          after = round.next;
        }
      }
      if (refused.length > 0) throw new ApiError(403, 'AccessDenied', refusalOf(refused, deleted));
      return deleted;
    },
    onSettled: async () => {
      await client.invalidateQueries({ queryKey: ['objects', bucket] });
    },
  });
}

async function tryDelete(bucket: string, key: string): Promise<string | undefined> {
  try {
    await call('DELETE', `${bucketPath(bucket)}/object`, { query: { key } });
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return error.message;
    throw error;
  }
}

function refusalOf(refused: readonly string[], deleted: number): string {
  const [first = ''] = refused;
  if (refused.length === 1 && deleted === 0) return first;
  return `${deleted} deleted, ${refused.length} refused. ${first}`;
}
