import { useQuery } from '@tanstack/react-query';
import type { BucketAction, BucketRights, ObjectAction, ObjectRights } from '../../../contract/rights.ts';
import { bucketPath } from './buckets.ts';
import { call } from './call.ts';

/** The rights of the user in a folder. While the answer is on its way, nothing is allowed, so that no button appears and goes. */
export interface FolderRights {
  readonly known: boolean;
  readonly bucket: (action: BucketAction) => boolean;
  /** On every object below the folder. */
  readonly every: (action: ObjectAction) => boolean;
  /** On some object below the folder. */
  readonly some: (action: ObjectAction) => boolean;
}

export function useBucketRights(bucket: string, prefix = ''): FolderRights {
  const { data } = useQuery({
    queryKey: ['rights', bucket, prefix],
    queryFn: () => call<BucketRights>('GET', `${bucketPath(bucket)}/rights`, { query: { prefix } }),
  });
  return {
    known: data !== undefined,
    bucket: (action) => data?.bucket.includes(action) === true,
    every: (action) => data?.every.includes(action) === true,
    some: (action) => data?.some.includes(action) === true,
  };
}

export interface KeyRights {
  readonly known: boolean;
  readonly may: (action: ObjectAction) => boolean;
}

/** The rights of the user to one object. */
export function useObjectRights(bucket: string, key: string, enabled = true): KeyRights {
  const { data } = useQuery({
    queryKey: ['object-rights', bucket, key],
    queryFn: () => call<ObjectRights>('GET', `${bucketPath(bucket)}/object-rights`, { query: { key } }),
    enabled,
  });
  return { known: data !== undefined, may: (action) => data?.object.includes(action) === true };
}
