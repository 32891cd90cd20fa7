/**
 * Names of keys, and patterns over them, in the key-service protocol.
 *
 * The rule is that of the 2023 releases, the wider of the two generations: letters, digits, `_` and `-`, 1 to 80 of them.
 */
const maxNameLength = 80;

/** Why a key name is refused, in the words that clients know; undefined when it is fine. */
export function keyNameProblem(name: string): string | undefined {
  return problem(name, /^[A-Za-z0-9_-]*$/);
}

/** Why a pattern of names is refused: the same, and `*` may stand anywhere. */
export function patternProblem(pattern: string): string | undefined {
  return problem(pattern, /^[A-Za-z0-9_*-]*$/);
}

function problem(text: string, allowed: RegExp): string | undefined {
  if (text === '') return 'invalid argument: name is empty';
  if (text.length > maxNameLength) return 'invalid argument: name is too long';
  if (!allowed.test(text)) return 'invalid argument: name contains invalid character';
  return undefined;
}

/** Whether a name matches a pattern in which `*` stands for any run of characters. Linear in both, whatever the pattern. */
export function matchesPattern(pattern: string, name: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.pop();
  if (tail === undefined) return pattern === name;
  if (!name.startsWith(head)) return false;
  let at = head.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length - at >= tail.length && name.endsWith(tail);
}

/** Whether a list call asks for a name: a pattern without `*` is what the names begin with, as later clients send it. */
export function matchesListing(pattern: string, name: string): boolean {
  return matchesPattern(pattern.includes('*') ? pattern : `${pattern}*`, name);
}
