import { matchesText, textMatcher } from '../../../../protocol/policy/glob.ts';

/** Tests names by patterns with `*` and `?`. A pattern is compared with the whole name below a place, and with its last part. */
export function anyGlob(patterns: readonly string[] = []): (name: string) => boolean {
  const matchers = patterns.map((pattern) => textMatcher(pattern));
  return (name) => {
    const last = name.slice(name.lastIndexOf('/') + 1);
    return matchers.some((matcher) => matchesText(matcher, name) || matchesText(matcher, last));
  };
}
