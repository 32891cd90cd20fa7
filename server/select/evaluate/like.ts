import { S3Error } from '../../../protocol/s3/s3-error.ts';

/** A pattern of LIKE: code points, and -1 for `%`, -2 for `_`. */
export type LikePattern = readonly number[];

/** Characters of a pattern. Matching takes the product of both lengths at most. */
const maxPattern = 1_024;

const any = -1;
const one = -2;

/**
 * Reads a pattern of LIKE.
 *
 * @throws S3Error LikeInvalidInputs
 */
export function parseLike(pattern: string, escape: string | undefined): LikePattern {
  if (pattern.length > maxPattern) {
    throw new S3Error('LikeInvalidInputs', `A pattern of LIKE has at most ${maxPattern} characters.`);
  }
  if (escape !== undefined && Array.from(escape).length !== 1) {
    throw new S3Error('LikeInvalidInputs', 'ESCAPE takes one character.');
  }
  const parts: number[] = [];
  let escaped = false;
  for (const character of pattern) {
    if (escaped || (character !== '%' && character !== '_' && character !== escape)) {
      parts.push(character.codePointAt(0) ?? 0);
      escaped = false;
    } else if (character === escape) escaped = true;
    else parts.push(character === '%' ? any : one);
  }
  if (escaped) throw new S3Error('LikeInvalidInputs', 'The pattern of LIKE ends with its escape character.');
  return parts;
}

/**
 * Matches with two pointers: a mismatch goes back to the last `%` alone, since an earlier one cannot match more. The time is at most the
 * product of both lengths.
 */
export function matchesLike(text: string, pattern: LikePattern): boolean {
  let at = 0;
  let part = 0;
  let star = -1;
  let retry = 0;
  while (at < text.length) {
    const code = text.codePointAt(at) ?? 0;
    const wanted = pattern[part];
    if (wanted === any) {
      star = part;
      retry = at;
      part += 1;
    } else if (wanted === code || wanted === one) {
      at += width(code);
      part += 1;
    } else if (star >= 0) {
      retry += width(text.codePointAt(retry) ?? 0);
      at = retry;
      part = star + 1;
    } else return false;
  }
  while (pattern[part] === any) part += 1;
  return part === pattern.length;
}

function width(code: number): number {
  return code > 0xffff ? 2 : 1;
}
