import { fitsText, textMatcher, type TextMatcher } from './text-matcher.ts';

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
