import type { PolicyDocument } from '../../protocol/policy/document.ts';
import { parseBucketPolicy } from '../../protocol/policy/parse-policy.ts';
import type { GivenSetting } from '../../platform/settings/setting-source.ts';
import type { ExportedBuckets } from './bucket-documents.ts';

const corsSetting = 'SVC_API_CORS_ALLOW_ORIGIN';

/** Reports whether a statement lets everyone in who has an address of its conditions, without credentials. */
function allowsByAddress({ statements }: PolicyDocument): boolean {
  return statements.some(
    ({ effect, principals = [], conditions }) =>
      effect === 'Allow' &&
      principals.some((pattern) => /^[*?]+$/.test(pattern)) &&
      conditions.some(({ key }) => key.toLowerCase() === 'aws:sourceip'),
  );
}

interface Sources {
  readonly buckets?: Pick<ExportedBuckets, 'getBucketPolicy' | 'getBucketCors'> | undefined;
  readonly given?: ReadonlyMap<string, GivenSetting> | undefined;
}

/**
 * Returns a warning where pages of any origin may read the answers of a bucket that its policy opens to an address: the browser of a visitor
 * who has the address sends the page's request. A bucket with a CORS configuration of its own is left out.
 */
export async function warningOfPoliciesByAddress(
  names: readonly string[],
  { buckets, given }: Sources,
): Promise<string | undefined> {
  const origins = given?.get(corsSetting)?.value ?? '*';
  if (buckets === undefined || !origins.split(',').some((origin) => origin.trim() === '*')) return undefined;
  const found: string[] = [];
  for (const name of names) {
    const policy = await buckets.getBucketPolicy(name);
    if (policy === undefined || !allowsByAddress(parseBucketPolicy(policy, name))) continue;
    if ((await buckets.getBucketCors(name)) === undefined) found.push(name);
  }
  if (found.length === 0) return undefined;
  const shown = found.slice(0, 5).map((name) => JSON.stringify(name));
  const more = found.length > shown.length ? ` and ${found.length - shown.length} more` : '';
  return `the policies of ${shown.join(', ')}${more} let callers in by aws:SourceIp without credentials, and ${corsSetting} lets pages of any origin read the answers in the browsers of those callers: name the origins in ${corsSetting}, or give the buckets a CORS configuration`;
}
