import * as fc from 'fast-check';
import { corsMethods, type CorsRule, writeCors } from '../../../protocol/s3/bucket-cors.ts';
import { defined, keyText, maybe } from './texts.ts';

const headerNames = fc.constantFrom('ETag', 'x-amz-meta-a', 'Content-Type', 'x-*');

const rule = defined<CorsRule>({
  // Unlike other IDs it is stored with its white space.
  id: maybe(fc.oneof(fc.constant(''), keyText)),
  origins: fc.array(fc.constantFrom('*', 'https://a.example', 'http://*.b.example', ''), {
    minLength: 1,
    maxLength: 3,
  }),
  methods: fc.uniqueArray(fc.constantFrom(...corsMethods), { minLength: 1 }),
  headers: fc.array(fc.oneof(fc.constant('*'), headerNames), { maxLength: 3 }),
  exposed: fc.array(
    headerNames.filter((name) => !name.includes('*')),
    { maxLength: 2 },
  ),
  maxAgeSeconds: maybe(fc.oneof(fc.integer({ min: -5, max: 3_600 }), fc.constant(2 ** 31 - 1))),
});

/** The rules of every CORS configuration that the server accepts. */
export const corsRules: fc.Arbitrary<readonly CorsRule[]> = fc.array(rule, { minLength: 1, maxLength: 4 });

/** The document of such rules, as GetBucketCors answers it. */
export const corsDocuments: fc.Arbitrary<string> = corsRules.map(writeCors);
