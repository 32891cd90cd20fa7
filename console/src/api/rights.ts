import { useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import {
  maxKeysAsked,
  type BucketAction,
  type BucketRights,
  type KeyAction,
  type KeyRightsAnswer,
  type ObjectAction,
  type ObjectRights,
} from '../../../protocol/console/rights.ts';
import { bucketPath } from './buckets.ts';
import { call } from './call.ts';

/** The rights of the user in a folder. While the answer is on its way, nothing is allowed, so that no button appears and goes. */
export interface FolderRights {
  readonly known: boolean;
  /** Why the rights are not known, if the server did not answer them. */
  readonly error: Error | undefined;
  readonly retry: () => void;
  readonly bucket: (action: BucketAction) => boolean;
  /** On every object below the folder. */
  readonly every: (action: ObjectAction) => boolean;
  /** On some object below the folder. */
  readonly some: (action: ObjectAction) => boolean;
  /** On some object directly in the folder, and not only deeper. */
  readonly here: (action: ObjectAction) => boolean;
  /** A copy of an object has a place to go. */
  readonly writesSomewhere: boolean;
}

export function useBucketRights(bucket: string, prefix = '', enabled = true): FolderRights {
  const { data, error, refetch } = useQuery({
    queryKey: ['rights', bucket, prefix],
    queryFn: () => folderRights(bucket, prefix),
    enabled,
  });
  // The rows of a folder are rendered again only when the answer changes.
  return useMemo(
    () => ({
      known: data !== undefined,
      error: data === undefined ? (error ?? undefined) : undefined,
      retry: () => void refetch(),
      bucket: (action) => data?.bucket.includes(action) === true,
      every: (action) => data?.every.includes(action) === true,
      some: (action) => data?.some.includes(action) === true,
      here: (action) => data?.here.includes(action) === true,
      writesSomewhere: data?.writesSomewhere === true,
    }),
    [data, error, refetch],
  );
}

export interface KeyRights {
  readonly known: boolean;
  readonly may: (action: ObjectAction) => boolean;
}

function objectRights(bucket: string, key: string): Promise<ObjectRights> {
  return call<ObjectRights>('GET', `${bucketPath(bucket)}/object-rights`, { query: { key } });
}

function folderRights(bucket: string, prefix: string): Promise<BucketRights> {
  return call<BucketRights>('GET', `${bucketPath(bucket)}/rights`, { query: { prefix } });
}

/** Entries of a folder whose rights are asked for one by one. */
const maxAsked = 100;

/**
 * The rights of the user to all of these entries of a folder: keys, and prefixes that end in `/`, of which something below them suffices.
 * Nothing is asked where an action is allowed for the whole folder, and for many entries what holds for some of the folder is taken.
 */
export function useEntryRights(bucket: string, entries: readonly string[], rights: FolderRights): KeyRights {
  const asked = entries.length <= maxAsked ? entries : [];
  const answers = useQueries({
    queries: asked.map((entry) => ({
      queryKey: ['object-rights', bucket, entry, 'entry'],
      queryFn: async (): Promise<readonly ObjectAction[]> =>
        entry.endsWith('/') ? (await folderRights(bucket, entry)).some : (await objectRights(bucket, entry)).object,
    })),
  });
  return {
    known: rights.known && answers.every(({ isPending }) => !isPending),
    may: (action) => {
      if (rights.every(action)) return true;
      if (asked.length < entries.length) return rights.some(action);
      return answers.every(({ data }) => data?.includes(action) === true);
    },
  };
}

/** The rights of the user to some key of the key service, and to each of these. */
export function useServiceKeyRights(names: readonly string[]) {
  const parts = Array.from({ length: Math.max(1, Math.ceil(names.length / maxKeysAsked)) }, (_, at) =>
    names.slice(at * maxKeysAsked, (at + 1) * maxKeysAsked),
  );
  const answers = useQueries({
    queries: parts.map((part) => ({
      queryKey: ['key-rights', ...part],
      queryFn: () => call<KeyRightsAnswer>('GET', '/key-rights', { query: { keys: part.join(',') } }),
    })),
  });
  return {
    some: (action: KeyAction) => answers[0]?.data?.some.includes(action) === true,
    may: (action: KeyAction, name: string) =>
      answers[Math.floor(names.indexOf(name) / maxKeysAsked)]?.data?.keys[name]?.includes(action) === true,
  };
}

/** The rights of the user to one object. */
export function useObjectRights(bucket: string, key: string, enabled = true): KeyRights {
  const { data } = useQuery({
    queryKey: ['object-rights', bucket, key],
    queryFn: () => objectRights(bucket, key),
    enabled,
  });
  return { known: data !== undefined, may: (action) => data?.object.includes(action) === true };
}
