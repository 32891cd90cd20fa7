import { fitsValue, templateMatcher, unresolvedIn, type ValueMatcher } from './value-matcher.ts';
import { parseTemplate, type Lookup, type Template } from './variables.ts';

/** Six parts, each with wildcards of its own: a `*` never reaches over a colon of the first five. */
export type ArnMatcher = readonly ValueMatcher[];

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
