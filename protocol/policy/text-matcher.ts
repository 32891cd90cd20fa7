import { compileGlob, fitsGlob, type Glob } from './glob.ts';
import { anyRun, parsePattern, type Pattern } from './pattern.ts';

/** A pattern made ready once, so that a request pays for a comparison of its literal beginning and seldom for more. */
export type TextMatcher =
  | { readonly kind: 'anything' }
  | { readonly kind: 'exactly'; readonly text: string }
  | { readonly kind: 'beginning'; readonly prefix: string }
  | { readonly kind: 'pattern'; readonly prefix: string; readonly glob: Glob };

export function textMatcher(text: string): TextMatcher {
  return patternMatcher(parsePattern(text));
}

export function patternMatcher(pattern: Pattern): TextMatcher {
  const wild = pattern.findIndex((part) => typeof part !== 'string');
  const prefix = literal(wild < 0 ? pattern : pattern.slice(0, wild));
  if (wild < 0) return { kind: 'exactly', text: prefix };
  if (!pattern.slice(wild).every((part) => part === anyRun)) {
    return { kind: 'pattern', prefix, glob: compileGlob(pattern) };
  }
  return prefix === '' ? { kind: 'anything' } : { kind: 'beginning', prefix };
}

export function fitsText(matcher: TextMatcher, text: string): boolean {
  switch (matcher.kind) {
    case 'anything':
      return true;
    case 'exactly':
      return matcher.text === text;
    case 'beginning':
      return begins(text, matcher.prefix);
    case 'pattern':
      return begins(text, matcher.prefix) && fitsGlob(matcher.glob, text);
  }
}

/** Names of buckets and actions differ at their end rather than at their beginning: one comparison spares most calls. */
function begins(text: string, prefix: string): boolean {
  const last = prefix.length - 1;
  if (last < 0) return true;
  return text.charCodeAt(last) === prefix.charCodeAt(last) && text.startsWith(prefix);
}

function literal(parts: Pattern): string {
  return parts.filter((part) => typeof part === 'string').join('');
}
