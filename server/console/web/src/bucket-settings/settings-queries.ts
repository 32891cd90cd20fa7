import { useQuery } from '@tanstack/react-query';
import { useApiMutation } from '../api/queries.ts';
import { versioningDocument, versioningOf } from '../api/versioning.ts';
import { configuration, putConfiguration } from '../api/configuration.ts';
import { newElement } from '../../../../../protocol/s3/xml-edit.ts';
import { s3, unlessAbsent } from '../api/s3.ts';
import type { XmlNode } from '../../../../../protocol/s3/xml-reader.ts';
import { type PublicBlock, publicBlockDocument, publicBlockOf } from './public-block.ts';

export interface VersioningChange {
  readonly on: boolean;
  /** The user knows that the excluded prefixes are forgotten. A suspended versioning cannot have any. */
  readonly forgets: boolean;
}

/**
 * Switches the versioning. It reads the excluded prefixes right before the write: another administrator may have added some since the page
 * read them. Returns `has-exclusions`, and changes nothing, if they would be forgotten without the knowledge of the user.
 */
export function useSetVersioning(bucket: string) {
  return useApiMutation(
    async ({ on, forgets }: VersioningChange): Promise<'changed' | 'has-exclusions'> => {
      const root = (await configuration(bucket, 'versioning'))?.root ?? newElement('VersioningConfiguration', []);
      if (!on && !forgets && versioningOf(root).excludedPrefixes.length > 0) return 'has-exclusions';
      await putConfiguration(bucket, 'versioning', { document: versioningDocument(root, on) });
      return 'changed';
    },
    ['versioning', 'rights'],
  );
}

/** Undefined where the bucket has none, as the body that S3 answered. */
export function usePolicy(bucket: string) {
  return useQuery({
    queryKey: ['bucket-policy', bucket],
    queryFn: () => readPolicy(bucket),
  });
}

async function readPolicy(bucket: string): Promise<string | null> {
  const answer = await unlessAbsent(['NoSuchBucketPolicy'], s3('GET', bucket, { query: { policy: '' } }));
  return answer === undefined ? null : answer.text();
}

/**
 * Writes what a function makes of the policy right before the write; undefined removes it. Nothing is sent where it makes the same. The
 * function throws where another administrator has changed what the user saw.
 */
export function useSetPolicy(bucket: string) {
  return useApiMutation(
    async (change: (before: string | undefined) => string | undefined) => {
      const before = (await readPolicy(bucket)) ?? undefined;
      const policy = change(before);
      if (policy === before) return;
      const query = { policy: '' };
      if (policy === undefined) await s3('DELETE', bucket, { query });
      else await s3('PUT', bucket, { query, body: policy });
    },
    ['bucket-policy', 'rights', 'object-rights'],
  );
}

export function usePublicBlock(bucket: string) {
  return useQuery({
    queryKey: ['public-block', bucket],
    queryFn: async () => publicBlockOf(await readPublicBlock(bucket)),
  });
}

async function readPublicBlock(bucket: string): Promise<XmlNode> {
  const found = await configuration(bucket, 'publicAccessBlock', 'NoSuchPublicAccessBlockConfiguration');
  return found?.root ?? newElement('PublicAccessBlockConfiguration', []);
}

/** Changes some fields. It reads the others right before the write: another administrator may have changed them since the page read them. */
export function useSetPublicBlock(bucket: string) {
  return useApiMutation(
    async (change: Partial<PublicBlock>) => {
      const document = publicBlockDocument(await readPublicBlock(bucket), change);
      await putConfiguration(bucket, 'publicAccessBlock', { document });
    },
    ['public-block'],
  );
}
