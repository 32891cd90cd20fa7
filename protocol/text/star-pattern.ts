/**
 * Reports whether the whole text matches a pattern in which `*` matches any text and every other character itself. The time is linear in
 * both, whatever the pattern. Patterns of policies, which know `?` too, are in `policy/glob.ts`.
 *
 * @example
 *     matchesStars('app-*-key', 'app-1-key'); // true
 *     matchesStars('app', 'app-1'); // false
 */
export function matchesStars(pattern: string, text: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.pop();
  if (tail === undefined) return pattern === text;
  if (!text.startsWith(head)) return false;
  let at = head.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - at >= tail.length && text.endsWith(tail);
}
