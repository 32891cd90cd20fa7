import { useQuery } from '@tanstack/react-query';
import { newElement, elementAt, without, writeEdited } from '../../../protocol/s3/xml-edit.ts';
import type { XmlNode } from '../../../protocol/s3/xml-reader.ts';
import { configuration, editConfiguration, expectSame, subresources } from '../api/configuration.ts';
import { useApiMutation } from '../api/queries.ts';
import { type Edited, ElementForm, textField } from '../text/element-form.ts';

interface WebsiteFields {
  /** The name that a site appends to a folder. */
  readonly index: string;
  /** The key of the page that a site sends with errors; empty for none. */
  readonly error: string;
  /** The target of a redirect. */
  readonly host: string;
  /** Empty: that of the request. */
  readonly protocol: string;
}

/** The settings of a bucket as a website. */
export interface Website extends Edited<WebsiteFields> {
  readonly kind: 'site' | 'redirect';
}

const form = new ElementForm<WebsiteFields>({
  index: textField('IndexDocument', 'Suffix'),
  error: textField('ErrorDocument', 'Key'),
  host: textField('RedirectAllRequestsTo', 'HostName'),
  protocol: textField('RedirectAllRequestsTo', 'Protocol'),
});

/** Reads an element `WebsiteConfiguration`. */
export function websiteOf(root: XmlNode): Website {
  const kind = elementAt(root, ['RedirectAllRequestsTo']) === undefined ? 'site' : 'redirect';
  return { kind, ...form.read(root) };
}

const emptyRoot = newElement('WebsiteConfiguration', []);

export const emptyWebsite: Website = {
  ...websiteOf(emptyRoot),
  index: 'index.html',
};

/** The number of routing rules, which the form keeps as they are. */
export function routingRules({ element }: Website): number {
  return elementAt(element, ['RoutingRules'])?.children.length ?? 0;
}

/** Null for a bucket that is not a website. */
export function useWebsite(bucket: string) {
  return useQuery({
    queryKey: ['website', bucket],
    queryFn: async (): Promise<Website | null> => {
      const found = await configuration(bucket, subresources.website);
      return found === undefined ? null : websiteOf(found.root);
    },
  });
}

/** Null: the bucket is not a website any more. */
export function useSetWebsite(bucket: string) {
  return useApiMutation(
    (website: Website | null) =>
      editConfiguration(bucket, subresources.website, (now) => {
        if (website === null) return undefined;
        expectSame(now ?? emptyRoot, website.element);
        return websiteDocument(website);
      }),
    ['website'],
  );
}

/** The document of PutBucketWebsite: that which was read, with what the user changed. S3 takes a redirect of all requests only alone. */
export function websiteDocument({ kind, ...values }: Website): string {
  const root = form.write(values);
  return writeEdited(
    kind === 'site'
      ? without(root, ['RedirectAllRequestsTo'])
      : { ...root, children: root.children.filter(({ name }) => name === 'RedirectAllRequestsTo') },
  );
}
