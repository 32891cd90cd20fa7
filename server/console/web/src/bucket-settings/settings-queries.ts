import { useQuery } from '@tanstack/react-query';
import { useApiMutation } from '../api/queries.ts';
import { readVersioning } from '../api/versions.ts';
import { childrenOf, s3, s3Document, textIn, unlessAbsent } from '../api/s3.ts';
import { each, xml, xmlDocument } from '../text/xml.ts';
import { lifecycleDocument, type Rule, type SimpleRule } from './lifecycle/lifecycle-rules.ts';

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
      const { excludeFolders, excludedPrefixes: now } = await readVersioning(bucket);
      if (!on && !forgets && now.length > 0) return 'has-exclusions';
      const excludedPrefixes = on ? now : [];
      const body = xmlDocument('VersioningConfiguration', [
        xml('Status', on ? 'Enabled' : 'Suspended'),
        ...excludedPrefixes.map((prefix) => xml('ExcludedPrefixes', [xml('Prefix', prefix)])),
        ...(excludeFolders ? [xml('ExcludeFolders', true)] : []),
      ]);
      await s3('PUT', bucket, { query: { versioning: '' }, body });
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

/** Writes a policy, or what a function makes of the policy right before the write; undefined removes it. */
export function useSetPolicy(bucket: string) {
  return useApiMutation(
    async (change: string | undefined | ((before: string | undefined) => string | undefined)) => {
      const policy = typeof change === 'function' ? change((await readPolicy(bucket)) ?? undefined) : change;
      const query = { policy: '' };
      if (policy === undefined) await s3('DELETE', bucket, { query });
      else await s3('PUT', bucket, { query, body: policy });
    },
    ['bucket-policy', 'rights', 'object-rights'],
  );
}

export const blockFields = [
  'BlockPublicAcls',
  'IgnorePublicAcls',
  'BlockPublicPolicy',
  'RestrictPublicBuckets',
] as const;
export type PublicBlock = Readonly<Record<(typeof blockFields)[number], boolean>>;

export function usePublicBlock(bucket: string) {
  return useQuery({
    queryKey: ['public-block', bucket],
    queryFn: () => readPublicBlock(bucket),
  });
}

async function readPublicBlock(bucket: string): Promise<PublicBlock> {
  const root = await unlessAbsent(
    ['NoSuchPublicAccessBlockConfiguration'],
    s3Document('GET', bucket, { query: { publicAccessBlock: '' } }),
  );
  const is = (field: string) => root !== undefined && textIn(root, field) === 'true';
  return {
    BlockPublicAcls: is('BlockPublicAcls'),
    IgnorePublicAcls: is('IgnorePublicAcls'),
    BlockPublicPolicy: is('BlockPublicPolicy'),
    RestrictPublicBuckets: is('RestrictPublicBuckets'),
  };
}

/** Changes some fields. It reads the others right before the write: another administrator may have changed them since the page read them. */
export function useSetPublicBlock(bucket: string) {
  return useApiMutation(
    async (change: Partial<PublicBlock>) => {
      const block = { ...(await readPublicBlock(bucket)), ...change };
      const query = { publicAccessBlock: '' };
      if (blockFields.every((field) => !block[field])) await s3('DELETE', bucket, { query });
      else {
        const fields = blockFields.map((field) => xml(field, block[field]));
        await s3('PUT', bucket, { query, body: xmlDocument('PublicAccessBlockConfiguration', fields) });
      }
    },
    ['public-block'],
  );
}

export interface CorsRule {
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  readonly headers: readonly string[];
  readonly exposed: readonly string[];
  readonly maxAge?: string | undefined;
  readonly id?: string | undefined;
}

export function useCors(bucket: string) {
  return useQuery({
    queryKey: ['cors', bucket],
    queryFn: async (): Promise<readonly CorsRule[]> => {
      const root = await unlessAbsent(['NoSuchCORSConfiguration'], s3Document('GET', bucket, { query: { cors: '' } }));
      return root === undefined ? [] : childrenOf(root, 'CORSRule').map(corsRuleOf);
    },
  });
}

function corsRuleOf(element: Element): CorsRule {
  const texts = (name: string) => childrenOf(element, name).map((one) => one.textContent ?? '');
  return {
    origins: texts('AllowedOrigin'),
    methods: texts('AllowedMethod'),
    headers: texts('AllowedHeader'),
    exposed: texts('ExposeHeader'),
    maxAge: textIn(element, 'MaxAgeSeconds'),
    id: textIn(element, 'ID'),
  };
}

export function useSetCors(bucket: string) {
  return useApiMutation(
    async (rules: readonly CorsRule[]) => {
      const query = { cors: '' };
      if (rules.length === 0) {
        await s3('DELETE', bucket, { query });
        return;
      }
      const elements = rules.map(({ id, origins, methods, headers, exposed, maxAge }) =>
        xml('CORSRule', [
          ...(id === undefined ? [] : [xml('ID', id)]),
          ...each('AllowedOrigin', origins),
          ...each('AllowedMethod', methods),
          ...each('AllowedHeader', headers),
          ...each('ExposeHeader', exposed),
          ...(maxAge === undefined || maxAge === '' ? [] : [xml('MaxAgeSeconds', maxAge)]),
        ]),
      );
      await s3('PUT', bucket, { query, body: xmlDocument('CORSConfiguration', elements) });
    },
    ['cors'],
  );
}

export function useLifecycle(bucket: string) {
  return useQuery({
    queryKey: ['lifecycle', bucket],
    queryFn: async (): Promise<readonly Rule[]> => {
      const root = await unlessAbsent(
        ['NoSuchLifecycleConfiguration'],
        s3Document('GET', bucket, { query: { lifecycle: '' } }),
      );
      return root === undefined ? [] : childrenOf(root, 'Rule').map(ruleOf);
    },
  });
}

const known = new Set([
  'ID',
  'Status',
  'Filter',
  'Prefix',
  'Expiration',
  'NoncurrentVersionExpiration',
  'AbortIncompleteMultipartUpload',
  'Transition',
  'NoncurrentVersionTransition',
]);
const knownInner = new Set([
  'Prefix',
  'Days',
  'ExpiredObjectDeleteMarker',
  'NoncurrentDays',
  'NewerNoncurrentVersions',
  'DaysAfterInitiation',
  'StorageClass',
]);

/** A rule with an element that the editor does not have is kept as it came. */
function ruleOf(element: Element): Rule {
  const id = textIn(element, 'ID') ?? '';
  const enabled = textIn(element, 'Status') === 'Enabled';
  const isKnown = [...element.children].every(
    (child) =>
      known.has(child.localName) &&
      [...child.children].every((inner) => knownInner.has(inner.localName)) &&
      // The editor has the versions that stay for removals alone.
      (child.localName !== 'NoncurrentVersionTransition' || textIn(child, 'NewerNoncurrentVersions') === undefined),
  );
  if (!isKnown) return { kind: 'other', id, enabled, markup: new XMLSerializer().serializeToString(element) };
  const inner = (outer: string, name: string) => {
    const parent = childrenOf(element, outer)[0];
    return parent === undefined ? undefined : textIn(parent, name);
  };
  return {
    kind: 'simple',
    id,
    enabled,
    prefix: inner('Filter', 'Prefix') ?? textIn(element, 'Prefix') ?? '',
    expireDays: count(inner('Expiration', 'Days')),
    noncurrentDays: count(inner('NoncurrentVersionExpiration', 'NoncurrentDays')),
    keepVersions: count(inner('NoncurrentVersionExpiration', 'NewerNoncurrentVersions')),
    ...moveOf('move', inner('Transition', 'Days'), inner('Transition', 'StorageClass')),
    ...moveOf(
      'oldMove',
      inner('NoncurrentVersionTransition', 'NoncurrentDays'),
      inner('NoncurrentVersionTransition', 'StorageClass'),
    ),
    abortDays: count(inner('AbortIncompleteMultipartUpload', 'DaysAfterInitiation')),
    removeLoneMarkers: inner('Expiration', 'ExpiredObjectDeleteMarker') === 'true',
  };
}

/** A transition without days moves at once, as `mc ilm rule add --transition-days 0` writes it. */
function moveOf(name: 'move' | 'oldMove', days: string | undefined, tier: string | undefined): Partial<SimpleRule> {
  return tier === undefined ? {} : { [`${name}Days`]: Number(days ?? 0), [`${name}Tier`]: tier };
}

export function useSetLifecycle(bucket: string) {
  return useApiMutation(
    async (rules: readonly Rule[]) => {
      const query = { lifecycle: '' };
      if (rules.length === 0) await s3('DELETE', bucket, { query });
      else {
        const headers = await transitionMinimum(bucket);
        await s3('PUT', bucket, { query, headers, body: lifecycleDocument(rules) });
      }
    },
    ['lifecycle'],
  );
}

/** The header of the rules that says whether small objects move to tiers, which the editor does not have. */
async function transitionMinimum(bucket: string): Promise<Readonly<Record<string, string>>> {
  const name = 'x-amz-transition-default-minimum-object-size';
  const rules = s3('GET', bucket, { query: { lifecycle: '' } });
  const value = (await unlessAbsent(['NoSuchLifecycleConfiguration'], rules))?.headers.get(name);
  return value === null || value === undefined ? {} : { [name]: value };
}

function count(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}
