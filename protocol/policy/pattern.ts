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
