import { anyOne, anyRun, parsePattern, type Pattern, matchesText, patternMatcher, type TextMatcher } from './glob.ts';

/** Matches `${name}` or `${name, 'default'}`. `${*}`, `${?}` and `${$}` are the character itself. */
const variable = /\$\{([*?$]|[^${},]*)(?:,\s*'([^']*)'\s*)?\}/g;

/** A variable, which has a value in each request. */
interface VariablePart {
  /** In lower case, because names do not depend on case. */
  readonly name: string;
  readonly fallback: string | undefined;
}

/** A text split at its wildcards and variables. */
export type Template = readonly (Pattern[number] | VariablePart)[];

/** Returns the value of a variable by its name in lower case: undefined if the request lacks it, and null if it is no single text there. */
export type Lookup = (name: string) => string | null | undefined;

/**
 * Parses a text. Without `variables`, as in documents of 2008, `${…}` is plain text. Without `wildcards`, as in StringEquals, `*` and `?`
 * are plain text.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html
 */
export function parseTemplate(
  text: string,
  has: { readonly variables: boolean; readonly wildcards: boolean },
): Template {
  const plain = (part: string): Template => (has.wildcards ? parsePattern(part) : part === '' ? [] : [part]);
  if (!has.variables || !text.includes('${')) return plain(text);
  const parts: Template[number][] = [];
  let at = 0;
  for (const match of text.matchAll(variable)) {
    parts.push(...plain(text.slice(at, match.index)), variablePart(match[1] ?? '', match[2]));
    at = match.index + match[0].length;
  }
  parts.push(...plain(text.slice(at)));
  return parts;
}

/** Returns a text of the same length in which each variable is blanks. */
export function withoutVariables(text: string): string {
  return text.replace(variable, (match) => ' '.repeat(match.length));
}

/** Returns the template as a pattern if nothing in it depends on the request. */
function constantPattern(template: Template): Pattern | undefined {
  const pattern = template.filter((part): part is Pattern[number] => !isVariable(part));
  return pattern.length === template.length ? pattern : undefined;
}

/**
 * Resolves the variables of a template. Their values are literal, so that a user named `*` gets no wildcard. Returns undefined if a
 * variable has neither value nor default: then the pattern matches nothing.
 */
export function resolveTemplate(template: Template, lookup: Lookup): Pattern | undefined {
  const pattern: Pattern[number][] = [];
  for (const part of template) {
    if (!isVariable(part)) {
      pattern.push(part);
      continue;
    }
    const value = valueOf(part, lookup);
    if (value === undefined) return undefined;
    if (value !== '') pattern.push(value);
  }
  return pattern;
}

/** Resolves a template without wildcards to a text. */
export function resolveText(template: Template, lookup: Lookup): string | undefined {
  return resolveTemplate(template, lookup)
    ?.filter((part) => typeof part === 'string')
    .join('');
}

/** A default is for a request that lacks the variable. Where it has a list of texts, for instance, the default would be another value. */
function valueOf({ name, fallback }: VariablePart, lookup: Lookup): string | undefined {
  const value = lookup(name);
  return value === null ? undefined : (value ?? fallback);
}

/** Lists the variables that have no value. */
export function unresolvedNames(template: Template, lookup: Lookup): string[] {
  return template
    .filter(isVariable)
    .filter((part) => valueOf(part, lookup) === undefined)
    .map(({ name }) => name);
}

function isVariable(part: Template[number]): part is VariablePart {
  return typeof part !== 'string' && part !== anyRun && part !== anyOne;
}

function variablePart(name: string, fallback: string | undefined): Template[number] {
  return name === '*' || name === '?' || name === '$' ? name : { name: name.trim().toLowerCase(), fallback };
}

/** A compiled text of a policy with wildcards and variables. */
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

export function matchesValue(value: ValueMatcher, text: string, lookup: Lookup): boolean {
  if (value.kind === 'constant') return matchesText(value.matcher, text);
  // Most texts already differ in their literal prefix, before a variable is resolved.
  const [first] = value.template;
  if (typeof first === 'string' && !text.startsWith(first)) return false;
  const pattern = resolveTemplate(value.template, lookup);
  return pattern !== undefined && matchesText(patternMatcher(pattern), text);
}

/** Lists the variables in it that have no value. */
export function unresolvedIn(value: ValueMatcher, lookup: Lookup): readonly string[] {
  return value.kind === 'constant' ? [] : unresolvedNames(value.template, lookup);
}
