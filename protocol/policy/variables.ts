import { anyOne, anyRun, parsePattern, type Pattern, fitsText, patternMatcher, type TextMatcher } from './glob.ts';

/** `${name}` or `${name, 'default'}`; `${*}`, `${?}` and `${$}` stand for the character itself. */
const variable = /\$\{([*?$]|[^${},]*)(?:,\s*'([^']*)'\s*)?\}/g;

/** Stands for a value of the request. */
interface VariablePart {
  /** In lower case: names are compared without regard to case. */
  readonly name: string;
  readonly fallback: string | undefined;
}

/** A text taken apart at its wildcards and variables. */
export type Template = readonly (Pattern[number] | VariablePart)[];

/** What a variable stands for, by its name in lower case; undefined where it stands for nothing. */
export type Lookup = (name: string) => string | undefined;

/**
 * Takes a text apart. Without `variables`, as in documents of 2008, `${…}` is plain text; without `wildcards`, as in StringEquals, so
 * are `*` and `?`.
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

/** The template as a pattern, where nothing in it depends on the request. */
function constantPattern(template: Template): Pattern | undefined {
  const pattern = template.filter((part): part is Pattern[number] => !isVariable(part));
  return pattern.length === template.length ? pattern : undefined;
}

/**
 * The pattern with its variables put in: their values are literal, so that a user named `*` gets no wildcard. Undefined when a variable
 * has neither value nor default, in which case the pattern matches nothing.
 */
export function resolveTemplate(template: Template, lookup: Lookup): Pattern | undefined {
  const pattern: Pattern[number][] = [];
  for (const part of template) {
    if (!isVariable(part)) {
      pattern.push(part);
      continue;
    }
    const value = lookup(part.name) ?? part.fallback;
    if (value === undefined) return undefined;
    if (value !== '') pattern.push(value);
  }
  return pattern;
}

/** As `resolveTemplate`, of a template without wildcards. */
export function resolveText(template: Template, lookup: Lookup): string | undefined {
  return resolveTemplate(template, lookup)
    ?.filter((part) => typeof part === 'string')
    .join('');
}

/** Names of variables that stand for nothing. */
export function unresolvedNames(template: Template, lookup: Lookup): string[] {
  return template
    .filter(isVariable)
    .filter(({ name, fallback }) => (lookup(name) ?? fallback) === undefined)
    .map(({ name }) => name);
}

function isVariable(part: Template[number]): part is VariablePart {
  return typeof part !== 'string' && part !== anyRun && part !== anyOne;
}

function variablePart(name: string, fallback: string | undefined): Template[number] {
  return name === '*' || name === '?' || name === '$' ? name : { name: name.trim().toLowerCase(), fallback };
}

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
