import { useQuery } from '@tanstack/react-query';
import { useApiMutation } from '../api/queries.ts';
import { childrenOf, s3, s3Document, textIn, unlessAbsent } from '../api/s3.ts';
import { xml, xmlDocument } from '../text/xml.ts';

/** How a bucket answers as a website. */
export interface Website {
  readonly kind: 'site' | 'redirect';
  /** The name that a site appends to a folder. */
  readonly index: string;
  /** The key of the page that a site sends with errors; empty for none. */
  readonly error: string;
  /** The target of a redirect. */
  readonly host: string;
  /** Empty: that of the request. */
  readonly protocol: string;
  /** Elements `RoutingRule`, which the editor keeps as they are. */
  readonly rules: readonly string[];
}

/** Null for a bucket that is no website. */
export function useWebsite(bucket: string) {
  return useQuery({
    queryKey: ['website', bucket],
    queryFn: async (): Promise<Website | null> => {
      const root = await unlessAbsent(
        ['NoSuchWebsiteConfiguration'],
        s3Document('GET', bucket, { query: { website: '' } }),
      );
      return root === undefined ? null : websiteOf(root);
    },
  });
}

function websiteOf(root: Element): Website {
  const inner = (outer: string, name: string) => {
    const parent = childrenOf(root, outer)[0];
    return (parent && textIn(parent, name)) ?? '';
  };
  const rules = childrenOf(root, 'RoutingRules')[0];
  return {
    kind: childrenOf(root, 'RedirectAllRequestsTo').length > 0 ? 'redirect' : 'site',
    index: inner('IndexDocument', 'Suffix'),
    error: inner('ErrorDocument', 'Key'),
    host: inner('RedirectAllRequestsTo', 'HostName'),
    protocol: inner('RedirectAllRequestsTo', 'Protocol'),
    rules: rules === undefined ? [] : [...rules.children].map((rule) => new XMLSerializer().serializeToString(rule)),
  };
}

/** Null: the bucket is no website any more. */
export function useSetWebsite(bucket: string) {
  return useApiMutation(
    async (website: Website | null) => {
      const query = { website: '' };
      if (website === null) await s3('DELETE', bucket, { query });
      else await s3('PUT', bucket, { query, body: websiteDocument(website) });
    },
    ['website'],
  );
}

/** Writes the document of PutBucketWebsite. */
export function websiteDocument({ kind, index, error, host, protocol, rules }: Website): string {
  if (kind === 'redirect') {
    const fields = [xml('HostName', host), ...(protocol === '' ? [] : [xml('Protocol', protocol)])];
    return xmlDocument('WebsiteConfiguration', [xml('RedirectAllRequestsTo', fields)]);
  }
  return xmlDocument('WebsiteConfiguration', [
    xml('IndexDocument', [xml('Suffix', index)]),
    ...(error === '' ? [] : [xml('ErrorDocument', [xml('Key', error)])]),
    ...(rules.length === 0
      ? []
      : [
          xml(
            'RoutingRules',
            rules.map((markup) => ({ markup })),
          ),
        ]),
  ]);
}
