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

/**
 * Whether the whole of `text` fits. Greedy with one point to go back to, the last `*`: time grows with the product of the two
 * lengths at worst, never exponentially as with regular expressions. `?` is one UTF-16 unit.
 */
export function matches(pattern: Pattern, text: string): boolean {
  let at = 0;
  let part = 0;
  let star = -1;
  let starAt = 0;
  for (;;) {
    const token = pattern[part];
    if (token === undefined && at === text.length) return true;
    if (token === anyRun) {
      star = part;
      starAt = at;
      part += 1;
      continue;
    }
    const length = token === undefined ? 0 : fits(token, text, at);
    if (length > 0) {
      at += length;
      part += 1;
    } else {
      if (star < 0 || starAt >= text.length) return false;
      starAt += 1;
      at = starAt;
      part = star + 1;
    }
  }
}

/** How many units of `text` the part takes; 0 when it does not fit. */
function fits(part: Pattern[number], text: string, at: number): number {
  if (part === anyOne) return at < text.length ? 1 : 0;
  return typeof part === 'string' && text.startsWith(part, at) ? part.length : 0;
}
