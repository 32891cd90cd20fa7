import * as fc from 'fast-check';
import { type RoutingRule, type Website, writeWebsite } from '../../../protocol/s3/bucket-website.ts';
import { defined, keyText, maybe } from './texts.ts';

const host = fc.constantFrom('www.example.com', 'example.com:8080');
const protocol = maybe(fc.constantFrom('http' as const, 'https' as const));

const rule = defined<RoutingRule>({
  prefix: fc.oneof(fc.constant(''), keyText),
  errorCode: maybe(fc.constantFrom(404, 503)),
  hostName: maybe(host),
  protocol,
  redirectCode: maybe(fc.constantFrom(301, 302, 307)),
  replace: maybe(
    fc.record({ kind: fc.constantFrom('prefix' as const, 'key' as const), with: fc.oneof(fc.constant(''), keyText) }),
  ),
}).filter(
  ({ hostName, protocol: by, redirectCode, replace }) => (hostName ?? by ?? redirectCode ?? replace) !== undefined,
);

/** Every website that the server accepts. */
export const websites: fc.Arbitrary<Website> = fc.oneof(
  defined<Extract<Website, { kind: 'redirect' }>>({ kind: fc.constant('redirect'), hostName: host, protocol }),
  defined<Extract<Website, { kind: 'site' }>>({
    kind: fc.constant('site'),
    indexSuffix: fc.constantFrom('index.html', ' a&b '),
    errorKey: maybe(keyText),
    rules: fc.array(rule, { maxLength: 3 }),
  }),
);

/** The document, as GetBucketWebsite answers it. */
export const websiteDocuments: fc.Arbitrary<string> = websites.map(writeWebsite);
