import { useQuery } from '@tanstack/react-query';
import { each, xml, xmlDocument } from '../text/xml.ts';
import { configuration, putConfiguration } from './configuration.ts';
import { type BucketLock, bucketLockOf, objectLockDocument } from './object-lock-document.ts';
import { useApiMutation } from './queries.ts';
import { headerText } from '../text/encoded-words.ts';
import { copySource, s3, s3Document, textIn, unlessAbsent } from './s3.ts';

export interface Pair {
  readonly name: string;
  readonly value: string;
}

/** The name and the value of each tag, of an object or (without a key) of a bucket. */
export function useTags(bucket: string, key: string | undefined, enabled: boolean) {
  return useQuery({
    queryKey: ['tags', bucket, key],
    queryFn: async (): Promise<readonly Pair[]> => {
      const root = await unlessAbsent(['NoSuchTagSet'], s3Document('GET', bucket, { key, query: { tagging: '' } }));
      return [...(root?.querySelectorAll('TagSet > Tag') ?? [])].map((tag) => ({
        name: textIn(tag, 'Key') ?? '',
        value: textIn(tag, 'Value') ?? '',
      }));
    },
    enabled,
  });
}

/** Replaces the tags; no pairs remove them. */
export function useSetTags(bucket: string, key?: string) {
  return useApiMutation(
    async (tags: readonly Pair[]) => {
      if (tags.length === 0) {
        await s3('DELETE', bucket, { key, query: { tagging: '' } });
        return;
      }
      const set = tags.map(({ name, value }) => xml('Tag', [xml('Key', name), xml('Value', value)]));
      await s3('PUT', bucket, { key, query: { tagging: '' }, body: xmlDocument('Tagging', [xml('TagSet', set)]) });
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

/** Replaces headers and metadata by a copy of the object onto itself. */
export function useSetHeaders(bucket: string, key: string, etag: string) {
  return useApiMutation(
    async (headers: ObjectHeaders) => {
      const sent = {
        'content-type': headers.contentType,
        'content-encoding': headers.contentEncoding,
        'content-disposition': headers.contentDisposition,
        'content-language': headers.contentLanguage,
        'cache-control': headers.cacheControl,
        ...Object.fromEntries(
          headers.metadata.map(({ name, value }) => [`x-amz-meta-${name.toLowerCase()}`, headerText(value)]),
        ),
      };
      await s3Document('PUT', bucket, {
        key,
        headers: {
          ...Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== '')),
          'x-amz-copy-source': copySource(bucket, key),
          'x-amz-copy-source-if-match': `"${etag}"`,
          'x-amz-metadata-directive': 'REPLACE',
        },
      });
    },
    ['object', 'objects', 'versions'],
  );
}

export interface Lock {
  readonly mode?: 'GOVERNANCE' | 'COMPLIANCE';
  /** ISO 8601. */
  readonly until?: string;
  readonly legalHold: boolean;
}

/** Undefined for an object without a lock, and where the bucket has no object lock. */
export function useLock(bucket: string, key: string, enabled: boolean) {
  return useQuery({
    queryKey: ['lock', bucket, key],
    queryFn: async (): Promise<Lock> => {
      const none = ['NoSuchObjectLockConfiguration', 'InvalidRequest', 'ObjectLockConfigurationNotFoundError'];
      const [retention, hold] = await Promise.all([
        unlessAbsent(none, s3Document('GET', bucket, { key, query: { retention: '' } })),
        unlessAbsent(none, s3Document('GET', bucket, { key, query: { 'legal-hold': '' } })),
      ]);
      const mode = retention && textIn(retention, 'Mode');
      return {
        ...(mode === 'GOVERNANCE' || mode === 'COMPLIANCE' ? { mode } : {}),
        ...(retention && { until: textIn(retention, 'RetainUntilDate') ?? '' }),
        legalHold: hold !== undefined && textIn(hold, 'Status') === 'ON',
      };
    },
    enabled,
  });
}

export function useSetRetention(bucket: string, key: string) {
  return useApiMutation(
    async ({ mode, until, bypass }: { mode: NonNullable<Lock['mode']>; until: string; bypass: boolean }) => {
      await s3('PUT', bucket, {
        key,
        query: { retention: '' },
        headers: bypass ? { 'x-amz-bypass-governance-retention': 'true' } : {},
        body: xmlDocument('Retention', [xml('Mode', mode), xml('RetainUntilDate', until)]),
      });
    },
    ['lock'],
  );
}

export function useSetLegalHold(bucket: string, key: string) {
  return useApiMutation(
    async (on: boolean) => {
      const body = xmlDocument('LegalHold', each('Status', [on ? 'ON' : 'OFF']));
      await s3('PUT', bucket, { key, query: { 'legal-hold': '' }, body });
    },
    ['lock'],
  );
}

/** Null for a bucket without object lock. */
export function useBucketLock(bucket: string, enabled: boolean) {
  return useQuery({
    queryKey: ['bucket-lock', bucket],
    queryFn: async (): Promise<BucketLock | null> => {
      const found = await configuration(bucket, 'object-lock', 'ObjectLockConfigurationNotFoundError');
      return found === undefined ? null : bucketLockOf(found.root);
    },
    enabled,
  });
}

/** Sets the default retention; none removes it. */
export function useSetBucketLock(bucket: string) {
  return useApiMutation(
    (lock: BucketLock) => putConfiguration(bucket, 'object-lock', { document: objectLockDocument(lock) }),
    ['bucket-lock'],
  );
}
