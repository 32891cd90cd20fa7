/**
 * A parsed pattern. `*` and `?` are wildcards, everything else is literal. `${*}`, `${?}` and `${$}` have become literals already, which a
 * pattern of plain text could not express.
 */
export type Pattern = readonly (string | typeof anyRun | typeof anyOne)[];

export const anyRun = Symbol('*');
export const anyOne = Symbol('?');

/** Splits text at its wildcards. */
export function parsePattern(text: string): Pattern {
  return text.split(/([*?])/).flatMap((part): Pattern => {
    if (part === '') return [];
    return part === '*' ? [anyRun] : part === '?' ? [anyOne] : [part];
  });
}

/** The part between two `*`: literal texts and `?`. Its length is fixed. */
interface Segment {
  readonly length: number;
  readonly parts: Pattern;
}

/** A pattern split at its `*`. A text must begin with the first segment and end with the last one; the others come in between. */
interface Glob {
  readonly first: Segment;
  readonly middle: readonly Segment[];
  /** Undefined for a pattern without `*`. */
  readonly last: Segment | undefined;
}

function compileGlob(pattern: Pattern): Glob {
  const groups: Pattern[number][][] = [[]];
  for (const part of pattern) {
    if (part === anyRun) groups.push([]);
    else groups.at(-1)?.push(part);
  }
  const [first = segment([]), ...others] = groups.map(segment);
  return { first, middle: others.slice(0, -1).filter(({ length }) => length > 0), last: others.at(-1) };
}

/**
 * Reports whether the whole text matches. It searches each segment after the one before it; the first match is as good as any. Patterns and
 * texts can come from an attacker: the time grows with the product of the two lengths divided by 32 if there are `?`. `?` is one UTF-16
 * unit.
 */
function matchesGlob({ first, middle, last }: Glob, text: string): boolean {
  if (last === undefined) return text.length === first.length && fitsAt(first, text, 0);
  const end = text.length - last.length;
  if (end < first.length || !fitsAt(first, text, 0) || !fitsAt(last, text, end)) return false;
  let at = first.length;
  for (const one of middle) {
    const found = find(one, text, at, end);
    if (found < 0) return false;
    at = found + one.length;
  }
  return true;
}

function segment(parts: Pattern): Segment {
  return { parts, length: parts.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : 1), 0) };
}

function fitsAt({ parts }: Segment, text: string, start: number): boolean {
  let at = start;
  for (const part of parts) {
    if (typeof part !== 'string') at += 1;
    else if (text.startsWith(part, at)) at += part.length;
    else return false;
  }
  return true;
}

/** Below this number of comparisons tables save no time. */
const fewComparisons = 4_096;

/** Returns the first position of a segment within `[start, end)`, or -1. */
function find(one: Segment, text: string, start: number, end: number): number {
  const [only, more] = one.parts;
  if (typeof only === 'string' && more === undefined) {
    const found = text.indexOf(only, start);
    return found + one.length > end ? -1 : found;
  }
  if ((end - start) * one.length > fewComparisons) return findByBits(one, text, start, end);
  for (let at = start; at + one.length <= end; at += 1) if (fitsAt(one, text, at)) return at;
  return -1;
}

/**
 * The Shift-And algorithm: bit `i` says that the first `i + 1` units of the segment match the text that ends here. One step moves 32 of
 * them.
 *
 * @see https://en.wikipedia.org/wiki/Bitap_algorithm
 */
function findByBits(one: Segment, text: string, start: number, end: number): number {
  const words = Math.ceil(one.length / 32);
  const { masks, others } = bitMasks(one, words);
  const state = new Uint32Array(words);
  const lastWord = words - 1;
  const lastBit = (1 << ((one.length - 1) % 32)) >>> 0;
  for (let at = start; at < end; at += 1) {
    const mask = masks.get(text.charCodeAt(at)) ?? others;
    let carry = 1;
    for (let word = 0; word < words; word += 1) {
      const bits = state[word] ?? 0;
      state[word] = ((bits << 1) | carry) & (mask[word] ?? 0);
      carry = bits >>> 31;
    }
    if (((state[lastWord] ?? 0) & lastBit) !== 0) return at - one.length + 1;
  }
  return -1;
}

/** Returns for each unit of text the positions of the segment where it matches; `others` for units that only `?` matches. */
function bitMasks({ parts }: Segment, words: number) {
  const units = parts.flatMap(unitsOf);
  const others = new Uint32Array(words);
  for (const [index, unit] of units.entries()) if (unit === undefined) setBit(others, index);
  const masks = new Map<number, Uint32Array>();
  for (const [index, unit] of units.entries()) {
    if (unit === undefined) continue;
    const mask = masks.get(unit) ?? others.slice();
    setBit(mask, index);
    masks.set(unit, mask);
  }
  return { masks, others };
}

/** Returns undefined for `?`. */
function unitsOf(part: Pattern[number]): (number | undefined)[] {
  if (typeof part !== 'string') return [undefined];
  return Array.from({ length: part.length }, (_, index) => part.charCodeAt(index));
}

function setBit(words: Uint32Array, index: number): void {
  words[index >>> 5] = (words[index >>> 5] ?? 0) | (1 << (index & 31));
}

/** Reports whether the whole text matches. A caller that matches often keeps the `Glob`. */
export function matches(pattern: Pattern, text: string): boolean {
  return matchesGlob(compileGlob(pattern), text);
}

/** A compiled pattern. A request mostly pays only for a comparison of its literal prefix. */
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

export function matchesText(matcher: TextMatcher, text: string): boolean {
  switch (matcher.kind) {
    case 'anything':
      return true;
    case 'exactly':
      return matcher.text === text;
    case 'beginning':
      return begins(text, matcher.prefix);
    case 'pattern':
      return begins(text, matcher.prefix) && matchesGlob(matcher.glob, text);
  }
}

/**
 * Reports whether the pattern matches every text that begins with the prefix. A pattern with `*` at its end that matches the prefix itself
 * matches whatever follows too; every other pattern with a wildcard bounds what follows.
 */
export function matchesEveryAfter(matcher: TextMatcher, prefix: string): boolean {
  const isOpen = matcher.kind === 'pattern' ? matcher.glob.last?.length === 0 : matcher.kind !== 'exactly';
  return isOpen && matchesText(matcher, prefix);
}

/** Names of buckets and actions differ at their end rather than at their beginning: one comparison saves most calls. */
function begins(text: string, prefix: string): boolean {
  const last = prefix.length - 1;
  if (last < 0) return true;
  return text.charCodeAt(last) === prefix.charCodeAt(last) && text.startsWith(prefix);
}

function literal(parts: Pattern): string {
  return parts.filter((part) => typeof part === 'string').join('');
}
