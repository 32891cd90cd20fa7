import { useQuery } from '@tanstack/react-query';
import { ResponseError } from '../../../protocol/response-error.ts';
import { elementAt, readEditable, textAt } from '../../../protocol/s3/xml-edit.ts';
import { xml, xmlDocument } from '../text/xml.ts';
import {
  conditionsOn,
  configuration,
  editConfiguration,
  expectSame,
  subresources,
  unlessChanged,
} from './configuration.ts';
import { type BucketLock, bucketLockOf, objectLockDocument } from './object-lock-document.ts';
import { useApiMutation } from './queries.ts';
import { headerText } from '../text/encoded-words.ts';
import { copyWithHeaders, type SeenObject } from './copies.ts';
import { s3, sendForHeaders, unlessAbsent } from './s3.ts';

export interface Pair {
  readonly name: string;
  readonly value: string;
}

/** The name and the value of each tag, of an object or (without a key) of a bucket. */
export function useTags(bucket: string, key: string | undefined, enabled: boolean) {
  return useQuery({
    queryKey: ['tags', bucket, key],
    queryFn: async () => (await readTags(bucket, key)).tags,
    enabled,
  });
}

interface ReadTags {
  readonly tags: readonly Pair[];
  /** The headers of a write that expects these tags. */
  readonly conditions: Readonly<Record<string, string>>;
}

async function readTags(bucket: string, key: string | undefined): Promise<ReadTags> {
  const answer = await unlessAbsent(['NoSuchTagSet'], s3('GET', bucket, { key, query: { tagging: '' } }));
  const elements = answer && elementAt(readEditable(await answer.text()), ['TagSet'])?.children;
  return {
    tags: (elements ?? []).map((tag) => ({ name: textAt(tag, ['Key']) ?? '', value: textAt(tag, ['Value']) ?? '' })),
    // The tags of an object have no condition.
    conditions: key === undefined ? conditionsOn(answer?.headers) : {},
  };
}

/** Writes what a function makes of the tags right before the write; no pairs remove them. */
export function useSetTags(bucket: string, key?: string) {
  return useApiMutation(
    async (change: (now: readonly Pair[]) => readonly Pair[]) => {
      const { tags: now, conditions } = await readTags(bucket, key);
      const tags = change(now);
      const query = { tagging: '' };
      const set = tags.map(({ name, value }) => xml('Tag', [xml('Key', name), xml('Value', value)]));
      const body = xmlDocument('Tagging', [xml('TagSet', set)]);
      await unlessChanged(
        tags.length === 0
          ? s3('DELETE', bucket, { key, query, headers: conditions })
          : s3('PUT', bucket, { key, query, headers: conditions, body }),
      );
    },
    ['tags'],
  );
}

export interface ObjectHeaders {
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly contentDisposition: string;
  readonly contentLanguage: string;
  readonly cacheControl: string;
  readonly metadata: readonly Pair[];
}

/** The headers and the metadata of an object that a form changes. */
export interface EditedHeaders extends ObjectHeaders {
  readonly seen: SeenObject;
}

/** Replaces headers and metadata by a copy of the object onto itself, which keeps all else. */
export function useSetHeaders(bucket: string, key: string) {
  return useApiMutation(
    async ({ metadata, seen, ...headers }: EditedHeaders) => {
      const names = metadata.map(({ name }) => name.toLowerCase());
      const twice = names.find((name, index) => names.indexOf(name) !== index);
      if (twice !== undefined) throw new ResponseError('BadRequest', `Two entries have the name ${twice}.`);
      await copyWithHeaders(sendForHeaders, { bucket, key }, seen, {
        content: {
          'content-type': headers.contentType,
          'content-encoding': headers.contentEncoding,
          'content-disposition': headers.contentDisposition,
          'content-language': headers.contentLanguage,
          'cache-control': headers.cacheControl,
        },
        metadata: Object.fromEntries(metadata.map(({ name, value }) => [name.toLowerCase(), headerText(value)])),
      });
    },
    ['object', 'objects', 'versions', 'lock'],
  );
}

/** Null for a bucket without object lock. */
export function useBucketLock(bucket: string, enabled: boolean) {
  return useQuery({
    queryKey: ['bucket-lock', bucket],
    queryFn: async (): Promise<BucketLock | null> => {
      const found = await configuration(bucket, subresources.objectLock);
      return found === undefined ? null : bucketLockOf(found.root);
    },
    enabled,
  });
}

/** Sets the default retention; none removes it. */
export function useSetBucketLock(bucket: string) {
  return useApiMutation(
    (lock: BucketLock) =>
      editConfiguration(bucket, subresources.objectLock, (now) => {
        expectSame(now, lock.element);
        return objectLockDocument(lock);
      }),
    ['bucket-lock'],
  );
}
