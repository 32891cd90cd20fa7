/**
 * Finds the first name that an object of a JSON text has twice. Returns undefined if there is none. `JSON.parse` keeps the last of the two
 * without a warning, so that a statement could mean something else than its author wants. The text must be valid JSON.
 */
export function duplicateKey(json: string): string | undefined {
  // An entry is undefined for a list. The function does not recurse, because a text can nest deeper than a stack.
  const open: (Set<string> | undefined)[] = [];
  let expectsName = false;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (character === '{' || character === '[') {
      open.push(character === '{' ? new Set() : undefined);
      expectsName = character === '{';
    } else if (character === '}' || character === ']') {
      open.pop();
      expectsName = false;
    } else if (character === ',') {
      expectsName = open.at(-1) !== undefined;
    } else if (character === '"') {
      const end = endOfString(json, at);
      if (expectsName) {
        const name = JSON.parse(json.slice(at, end)) as string;
        const names = open.at(-1);
        if (names?.has(name)) return name;
        names?.add(name);
        expectsName = false;
      }
      at = end - 1;
    }
  }
  return undefined;
}

/** Returns the position after the closing quote. */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}
