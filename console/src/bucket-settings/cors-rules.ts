import { useQuery } from '@tanstack/react-query';
import { newElement, withAll, writeEdited } from '../../../protocol/s3/xml-edit.ts';
import type { XmlNode } from '../../../protocol/s3/xml-reader.ts';
import { configuration, editConfiguration, expectSame, subresources } from '../api/configuration.ts';
import { useApiMutation } from '../api/queries.ts';
import { type Edited, ElementForm, listField, textField } from '../text/element-form.ts';

interface RuleFields {
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  readonly headers: readonly string[];
  readonly exposed: readonly string[];
  readonly maxAge: string;
}

export type CorsRule = Edited<RuleFields>;

const form = new ElementForm<RuleFields>({
  origins: listField('AllowedOrigin'),
  methods: listField('AllowedMethod'),
  headers: listField('AllowedHeader'),
  exposed: listField('ExposeHeader'),
  maxAge: textField('MaxAgeSeconds'),
});

/** Reads an element `CORSRule`. */
export function corsRule(element: XmlNode): CorsRule {
  return form.read(element);
}

/** The parts of a rule that the form has no field for. */
export function unknownOfCors({ element }: CorsRule): readonly string[] {
  return form.unknown(element);
}

export const emptyCors: CorsRule = {
  ...corsRule(newElement('CORSRule', [])),
  methods: ['GET'],
  headers: ['*'],
  exposed: ['ETag'],
};

/** The document of PutBucketCors: that which was read, with these rules. */
export function corsDocument(rules: readonly CorsRule[], before: XmlNode = emptyDocument): string {
  return writeEdited(
    withAll(
      before,
      'CORSRule',
      rules.map((rule) => form.write(rule)),
    ),
  );
}

const emptyDocument = newElement('CORSConfiguration', []);

interface Cors {
  /** Undefined for a bucket without rules. */
  readonly root: XmlNode | undefined;
  readonly rules: readonly CorsRule[];
}

export function useCors(bucket: string) {
  return useQuery({
    queryKey: ['cors', bucket],
    queryFn: async (): Promise<Cors> => {
      const root = (await configuration(bucket, subresources.cors))?.root;
      return { root, rules: root?.children.filter(({ name }) => name === 'CORSRule').map(corsRule) ?? [] };
    },
  });
}

/** Writes the rules into the document that they come from. */
export function useSetCors(bucket: string) {
  return useApiMutation(
    ({ root, rules }: Cors) =>
      editConfiguration(bucket, subresources.cors, (now) => {
        expectSame(now, root);
        return rules.length === 0 ? undefined : corsDocument(rules, root);
      }),
    ['cors'],
  );
}
