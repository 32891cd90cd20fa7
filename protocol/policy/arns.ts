import { matchesText, textMatcher, type TextMatcher } from './glob.ts';
import {
  matchesValue,
  templateMatcher,
  unresolvedIn,
  type ValueMatcher,
  parseTemplate,
  type Lookup,
  type Template,
} from './variables.ts';

export const s3Arn = 'arn:aws:s3:::';
export const kmsArn = 'arn:minio:kms:::';

/** Returns `bucket/key` of `arn:aws:s3:::bucket/key`, and the name of the key of `arn:minio:kms:::name`. */
export function bareResource(resource: string): string {
  if (resource.startsWith(s3Arn)) return resource.slice(s3Arn.length);
  return resource.startsWith(kmsArn) ? resource.slice(kmsArn.length) : resource;
}

/** The principals of a statement, as its author wrote them: `*`, user names, ARNs of users, with the wildcards `*` and `?`. */
export type PrincipalPatterns = readonly string[];

/** The names of the sender of a request. An anonymous request has none. */
export type PrincipalNames = readonly string[];

/** The ARN of a user. The account does not count, because a store is one account. */
const userArn = /^arn:(?:aws|minio):iam::[^:]*:user\/(?:.*\/)?([^/]+)$/;
/** The ARN of an account means the root user, who may do everything anyway. */
const accountArn = /^arn:(?:aws|minio):iam::[^:]*:root$/;

/**
 * The services of AWS that write into a bucket: access logs and inventories. This server does their work itself, so that a statement about
 * them is about its own deliveries.
 */
export const servicePrincipals = ['logging.s3.amazonaws.com', 's3.amazonaws.com'] as const;
export type ServicePrincipal = (typeof servicePrincipals)[number];
/** It makes a service a principal that no user and no pattern of `AWS` can be: names with `arn:` are refused there. */
const servicePrefix = 'arn:aws:service::';

export function patternOfService(name: string): string {
  return servicePrefix + name;
}

/** Returns the service that a pattern of a principal names; undefined for any other pattern. */
export function serviceOf(pattern: string): string | undefined {
  return pattern.startsWith(servicePrefix) ? pattern.slice(servicePrefix.length) : undefined;
}

/** Says what is wrong with a pattern of a principal. Returns undefined for a valid one. */
export function principalError(pattern: string): string | undefined {
  if (!pattern.startsWith('arn:') || userArn.test(pattern) || accountArn.test(pattern)) return undefined;
  return 'must be "*", the name of a user, or like "arn:aws:iam:::user/name"';
}

/** `everyone` also matches anonymous requests. A text matches only requests with credentials, and never a service. */
export type PrincipalMatcher =
  'everyone' | 'none' | { readonly kind: 'service'; readonly pattern: string } | TextMatcher;

export function principalMatcher(pattern: string): PrincipalMatcher {
  if (pattern === '*') return 'everyone';
  if (serviceOf(pattern) !== undefined) return { kind: 'service', pattern };
  if (accountArn.test(pattern)) return 'none';
  return textMatcher(userArn.exec(pattern)?.[1] ?? pattern);
}

export function matchesPrincipal(matchers: readonly PrincipalMatcher[], names: PrincipalNames): boolean {
  return matchers.some((matcher) => {
    if (typeof matcher === 'string') return matcher === 'everyone';
    if (matcher.kind === 'service') return names.includes(matcher.pattern);
    return names.some((name) => serviceOf(name) === undefined && matchesText(matcher, name));
  });
}

/** Six parts, each with its own wildcards: a `*` never matches over a colon of the first five. */
type ArnMatcher = readonly ValueMatcher[];

/**
 * Compiles a pattern of an ARN. Returns undefined if the text does not have six parts or does not begin with `arn`.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html#Conditions_ARN
 */
export function arnMatcher(text: string, variables: boolean): ArnMatcher | undefined {
  const parts = splitTemplate(parseTemplate(text, { variables, wildcards: true }));
  const [first] = parts;
  if (parts.length !== 6 || first?.length !== 1 || first[0] !== 'arn') return undefined;
  return parts.map(templateMatcher);
}

export function matchesArn(matcher: ArnMatcher, text: string, lookup: Lookup): boolean {
  const parts = splitText(text);
  return parts.length === 6 && matcher.every((part, index) => matchesValue(part, parts[index] ?? '', lookup));
}

export function unresolvedInArn(matcher: ArnMatcher, lookup: Lookup): readonly string[] {
  return matcher.flatMap((part) => unresolvedIn(part, lookup));
}

/** Splits a text into six parts. The sixth part keeps its colons. */
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

/** Splits a template as `splitText` does. Colons in the names of variables do not count. */
function splitTemplate(template: Template): Template[] {
  const parts: Template[number][][] = [[]];
  for (const chunk of template) {
    if (typeof chunk !== 'string') {
      parts.at(-1)?.push(chunk);
      continue;
    }
    let rest = chunk;
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
