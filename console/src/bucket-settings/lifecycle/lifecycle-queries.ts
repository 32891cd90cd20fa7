import { useQuery } from '@tanstack/react-query';
import type { XmlNode } from '../../../../protocol/s3/xml-reader.ts';
import { configuration, editConfiguration, expectSame, subresources } from '../../api/configuration.ts';
import { useApiMutation } from '../../api/queries.ts';
import { lifecycleDocument, lifecycleRule, type Rule } from './lifecycle-rules.ts';

interface Lifecycle {
  /** Undefined for a bucket without rules. */
  readonly root: XmlNode | undefined;
  readonly rules: readonly Rule[];
  /** The header of the rules that says whether small objects move to tiers, which the editor does not have. */
  readonly headers: Readonly<Record<string, string>>;
}

const transitionMinimum = 'x-amz-transition-default-minimum-object-size';

export function useLifecycle(bucket: string) {
  return useQuery({
    queryKey: ['lifecycle', bucket],
    queryFn: async (): Promise<Lifecycle> => {
      const found = await configuration(bucket, subresources.lifecycle);
      const minimum = found?.headers.get(transitionMinimum);
      return {
        root: found?.root,
        rules: found?.root.children.filter(({ name }) => name === 'Rule').map(lifecycleRule) ?? [],
        headers: minimum === null || minimum === undefined ? {} : { [transitionMinimum]: minimum },
      };
    },
  });
}

/** Writes the rules into the document that they come from. */
export function useSetLifecycle(bucket: string) {
  return useApiMutation(
    ({ root, rules, headers }: Lifecycle) =>
      editConfiguration(
        bucket,
        subresources.lifecycle,
        (now) => {
          expectSame(now, root);
          return rules.length === 0 ? undefined : lifecycleDocument(rules, root);
        },
        headers,
      ),
    ['lifecycle'],
  );
}
