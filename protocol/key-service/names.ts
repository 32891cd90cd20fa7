import { matchesStars } from '../text/star-pattern.ts';

/**
 * Names of keys, and patterns that match them, in the key-service protocol.
 *
 * The rule is that of the 2023 releases, the wider of the two generations: letters, digits, `_` and `-`, 1 to 80 of them.
 */
const maxNameLength = 80;

/** Says why a key name is not valid, in the words that clients know. Returns undefined for a valid name. */
export function keyNameError(name: string): string | undefined {
  return issue(name, /^[A-Za-z0-9_-]*$/);
}

/** Says why a pattern of names is not valid. The rule is that of names, and `*` may be anywhere. */
export function patternError(pattern: string): string | undefined {
  return issue(pattern, /^[A-Za-z0-9_*-]*$/);
}

function issue(text: string, allowed: RegExp): string | undefined {
  if (text === '') return 'invalid argument: name is empty';
  if (text.length > maxNameLength) return 'invalid argument: name is too long';
  if (!allowed.test(text)) return 'invalid argument: name contains invalid character';
  return undefined;
}

/** Reports whether a list call asks for a name. A pattern without `*` is a prefix, as later clients send it. */
export function matchesListing(pattern: string, name: string): boolean {
  return matchesStars(pattern.includes('*') ? pattern : `${pattern}*`, name);
}
