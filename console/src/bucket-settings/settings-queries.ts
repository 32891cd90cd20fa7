import { useQuery } from '@tanstack/react-query';
import { useApiMutation } from '../api/queries.ts';
import { versioningDocument, versioningOf } from '../api/versioning.ts';
import { conditionsOn, configuration, editConfiguration, subresources, unlessChanged } from '../api/configuration.ts';
import { newElement } from '../../../protocol/s3/xml-edit.ts';
import { s3, unlessAbsent } from '../api/s3.ts';
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
      const forgotten = new Error('the excluded prefixes would be forgotten');
      try {
        await editConfiguration(bucket, subresources.versioning, (now) => {
          const root = now ?? newElement('VersioningConfiguration', []);
          if (!on && !forgets && versioningOf(root).excludedPrefixes.length > 0) throw forgotten;
          return versioningDocument(root, on);
        });
        return 'changed';
      } catch (error) {
        if (error === forgotten) return 'has-exclusions';
        throw error;
      }
    },
    ['versioning', 'rights'],
  );
}

/** Undefined where the bucket has none, as the body that S3 answered. */
export function usePolicy(bucket: string) {
  return useQuery({
    queryKey: ['bucket-policy', bucket],
    queryFn: async () => (await readPolicy(bucket)).text,
  });
}

async function readPolicy(bucket: string): Promise<{ readonly text: string | null; readonly headers?: Headers }> {
  const answer = await unlessAbsent(['NoSuchBucketPolicy'], s3('GET', bucket, { query: { policy: '' } }));
  return answer === undefined ? { text: null } : { text: await answer.text(), headers: answer.headers };
}

/**
 * Writes what a function makes of the policy right before the write; undefined removes it. Nothing is sent where it makes the same. The
 * function throws where another administrator has changed what the user saw.
 */
export function useSetPolicy(bucket: string) {
  return useApiMutation(
    async (change: (before: string | undefined) => string | undefined) => {
      const { text, headers: read } = await readPolicy(bucket);
      const policy = change(text ?? undefined);
      if (policy === (text ?? undefined)) return;
      const request = { query: { policy: '' }, headers: conditionsOn(read) };
      await unlessChanged(
        policy === undefined ? s3('DELETE', bucket, request) : s3('PUT', bucket, { ...request, body: policy }),
      );
    },
    ['bucket-policy', 'rights', 'object-rights'],
  );
}

export function usePublicBlock(bucket: string) {
  return useQuery({
    queryKey: ['public-block', bucket],
    queryFn: () => readPublicBlock(bucket),
  });
}

async function readPublicBlock(bucket: string): Promise<PublicBlock> {
  const found = await configuration(bucket, subresources.publicAccessBlock);
  return publicBlockOf(found?.root ?? emptyBlock);
}

const emptyBlock = newElement('PublicAccessBlockConfiguration', []);

/** Changes some fields. It reads the others right before the write: another administrator may have changed them since the page read them. */
export function useSetPublicBlock(bucket: string) {
  return useApiMutation(
    (change: Partial<PublicBlock>) =>
      editConfiguration(bucket, subresources.publicAccessBlock, (now) =>
        publicBlockDocument(now ?? emptyBlock, change),
      ),
    ['public-block'],
  );
}
