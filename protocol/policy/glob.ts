/**
 * A pattern, taken apart: `*` and `?` are wild, everything else stands for itself. `${*}`, `${?}` and `${$}` have become
 * literals by then, which a pattern that is text could not say.
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

/** What stands between two `*`: literal texts and `?`, so that its length is known. */
interface Segment {
  readonly length: number;
  readonly parts: Pattern;
}

/** A pattern split at its `*`: the first segment stands at the beginning of a text, the last at its end, the others in between. */
interface Glob {
  readonly first: Segment;
  readonly middle: readonly Segment[];
  /** Undefined where there is no `*`. */
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
 * Whether the whole text fits: each segment is looked for after the one before it, and the first place is as good as any. Policies come
 * from people who may mean harm, and so do texts: time grows with the product of the two lengths divided by 32, where there are `?`.
 * `?` is one UTF-16 unit.
 */
function fitsGlob({ first, middle, last }: Glob, text: string): boolean {
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

/** Below this many comparisons there is nothing to save by tables. */
const fewComparisons = 4_096;

/** The first place of a segment within `[start, end)`; -1 where there is none. */
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
 * Shift-And: bit `i` says that the segment's first `i + 1` units fit what ends here. 32 of them move at once.
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

/** For each unit of text the places of the segment where it may stand; `others` for those that only `?` takes. */
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

/** Undefined for `?`. */
function unitsOf(part: Pattern[number]): (number | undefined)[] {
  if (typeof part !== 'string') return [undefined];
  return Array.from({ length: part.length }, (_, index) => part.charCodeAt(index));
}

function setBit(words: Uint32Array, index: number): void {
  words[index >>> 5] = (words[index >>> 5] ?? 0) | (1 << (index & 31));
}

/** Whether the whole of `text` fits. Who asks often keeps the `Glob`. */
export function matches(pattern: Pattern, text: string): boolean {
  return fitsGlob(compileGlob(pattern), text);
}

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
