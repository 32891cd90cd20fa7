import { fitsText, textMatcher, type TextMatcher } from './glob.ts';
import {
  fitsValue,
  templateMatcher,
  unresolvedIn,
  type ValueMatcher,
  parseTemplate,
  type Lookup,
  type Template,
} from './variables.ts';

export const s3Arn = 'arn:aws:s3:::';
export const kmsArn = 'arn:minio:kms:::';

/** `bucket/key` of `arn:aws:s3:::bucket/key`, and the key's name of `arn:minio:kms:::name`. */
export function bareResource(resource: string): string {
  if (resource.startsWith(s3Arn)) return resource.slice(s3Arn.length);
  return resource.startsWith(kmsArn) ? resource.slice(kmsArn.length) : resource;
}

/** Who a statement of a bucket policy is about, as its author wrote it: `*`, user names, ARNs of users; `*` and `?` are wild. */
export type PrincipalPatterns = readonly string[];

/** Under which names a request's sender is known; none for a request without credentials. */
export type PrincipalNames = readonly string[];

/** `arn:aws:iam::ACCOUNT:user/NAME`, where no account counts: a store is one. */
const userArn = /^arn:(?:aws|minio):iam::[^:]*:user\/(?:.*\/)?([^/]+)$/;
/** An account, which is here the root user, who may do everything anyway. */
const accountArn = /^arn:(?:aws|minio):iam::[^:]*:root$/;

/** What a pattern of a principal must be; undefined where it is one. */
export function principalProblem(pattern: string): string | undefined {
  if (!pattern.startsWith('arn:') || userArn.test(pattern) || accountArn.test(pattern)) return undefined;
  return 'must be "*", the name of a user, or like "arn:aws:iam:::user/name"';
}

/** `everyone` is also who has no credentials; any other pattern is about those who have. */
export type PrincipalMatcher = 'everyone' | 'nobody' | TextMatcher;

export function principalMatcher(pattern: string): PrincipalMatcher {
  if (pattern === '*') return 'everyone';
  if (accountArn.test(pattern)) return 'nobody';
  return textMatcher(userArn.exec(pattern)?.[1] ?? pattern);
}

export function fitsPrincipal(matchers: readonly PrincipalMatcher[], names: PrincipalNames): boolean {
  return matchers.some((matcher) => {
    if (typeof matcher === 'string') return matcher === 'everyone';
    return names.some((name) => fitsText(matcher, name));
  });
}

/** Six parts, each with wildcards of its own: a `*` never reaches over a colon of the first five. */
type ArnMatcher = readonly ValueMatcher[];

/**
 * Undefined where the text has not six parts or does not begin with `arn`.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html#Conditions_ARN
 */
export function arnMatcher(text: string, variables: boolean): ArnMatcher | undefined {
  const parts = splitTemplate(parseTemplate(text, { variables, wildcards: true }));
  const [first] = parts;
  if (parts.length !== 6 || first?.length !== 1 || first[0] !== 'arn') return undefined;
  return parts.map(templateMatcher);
}

export function fitsArn(matcher: ArnMatcher, text: string, lookup: Lookup): boolean {
  const parts = splitText(text);
  return parts.length === 6 && matcher.every((part, index) => fitsValue(part, parts[index] ?? '', lookup));
}

export function unresolvedInArn(matcher: ArnMatcher, lookup: Lookup): readonly string[] {
  return matcher.flatMap((part) => unresolvedIn(part, lookup));
}

/** The sixth part keeps its colons. */
function splitText(text: string): string[] {
  const parts: string[] = [];
  let at = 0;
  while (parts.length < 5) {
    const colon = text.indexOf(':', at);
    if (colon < 0) break;
    parts.push(text.slice(at, colon));
    at = colon + 1;
  }
  return [...parts, text.slice(at)];
}

/** As `splitText`; the colons in names of variables are none. */
function splitTemplate(template: Template): Template[] {
  const parts: Template[number][][] = [[]];
  for (const piece of template) {
    if (typeof piece !== 'string') {
      parts.at(-1)?.push(piece);
      continue;
    }
    let rest = piece;
    while (parts.length < 6 && rest.includes(':')) {
      const colon = rest.indexOf(':');
      if (colon > 0) parts.at(-1)?.push(rest.slice(0, colon));
      parts.push([]);
      rest = rest.slice(colon + 1);
    }
    if (rest !== '') parts.at(-1)?.push(rest);
  }
  return parts;
}
