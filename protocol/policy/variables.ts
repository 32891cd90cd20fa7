import { matches, parsePattern, type Pattern } from './wildcard.ts';

/** `${name}` or `${name, 'default'}`. */
const variable = /\$\{([*?$]|[^${},]*)(?:,\s*'([^']*)'\s*)?\}/g;

/** What `${…}` stands for, names in lower case. Without any (undefined) it stands for itself. */
export type Variables = ReadonlyMap<string, string>;

/**
 * A pattern with its variables put in: their values are literal, so that a user named `*` gets no wildcard. Undefined when a
 * variable has neither value nor default, in which case the pattern matches nothing.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html
 */
export function resolvePattern(text: string, variables: Variables | undefined): Pattern | undefined {
  if (variables === undefined || !text.includes('${')) return parsePattern(text);
  const parts: Pattern[number][] = [];
  let at = 0;
  for (const match of text.matchAll(variable)) {
    parts.push(...parsePattern(text.slice(at, match.index)));
    const value = resolve(match[1] ?? '', match[2], variables);
    if (value === undefined) return undefined;
    if (value !== '') parts.push(value);
    at = match.index + match[0].length;
  }
  return [...parts, ...parsePattern(text.slice(at))];
}

/** As `resolvePattern`, where `*` and `?` have no meaning. */
export function resolveText(text: string, variables: Variables | undefined): string | undefined {
  if (variables === undefined || !text.includes('${')) return text;
  let known = true;
  const resolved = text.replaceAll(variable, (_, name: string, fallback: string | undefined) => {
    const value = resolve(name, fallback, variables);
    known &&= value !== undefined;
    return value ?? '';
  });
  return known ? resolved : undefined;
}

function resolve(name: string, fallback: string | undefined, variables: Variables): string | undefined {
  if (name === '*' || name === '?' || name === '$') return name;
  return variables.get(name.trim().toLowerCase()) ?? fallback;
}

/** Whether a text that may hold variables and wildcards fits `candidate`. */
export function patternMatches(text: string, candidate: string, variables: Variables | undefined): boolean {
  const pattern = resolvePattern(text, variables);
  return pattern !== undefined && matches(pattern, candidate);
}
