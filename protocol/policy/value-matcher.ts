import { fitsText, patternMatcher, type TextMatcher } from './text-matcher.ts';
import { constantPattern, parseTemplate, resolveTemplate, unresolvedNames } from './variables.ts';
import type { Lookup, Template } from './variables.ts';

/** A text of a policy that may hold wildcards and variables, made ready once. */
export type ValueMatcher =
  | { readonly kind: 'constant'; readonly matcher: TextMatcher }
  | { readonly kind: 'variable'; readonly template: Template };

export function valueMatcher(
  text: string,
  has: { readonly variables: boolean; readonly wildcards: boolean },
): ValueMatcher {
  return templateMatcher(parseTemplate(text, has));
}

export function templateMatcher(template: Template): ValueMatcher {
  const pattern = constantPattern(template);
  return pattern === undefined
    ? { kind: 'variable', template }
    : { kind: 'constant', matcher: patternMatcher(pattern) };
}

export function fitsValue(value: ValueMatcher, text: string, lookup: Lookup): boolean {
  if (value.kind === 'constant') return fitsText(value.matcher, text);
  // Most texts already differ where the policy's begins, before a variable is looked at.
  const [first] = value.template;
  if (typeof first === 'string' && !text.startsWith(first)) return false;
  const pattern = resolveTemplate(value.template, lookup);
  return pattern !== undefined && fitsText(patternMatcher(pattern), text);
}

/** Names of variables in it that stand for nothing. */
export function unresolvedIn(value: ValueMatcher, lookup: Lookup): readonly string[] {
  return value.kind === 'constant' ? [] : unresolvedNames(value.template, lookup);
}
