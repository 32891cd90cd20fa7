/** Characters. A longer word is not a slip of the fingers. */
const maxLength = 64;

/**
 * Returns the known name that a mistyped one means: the one with the fewest slips (a letter too many, missing, wrong, or two letters in
 * the wrong order), if they are at most a third of its letters. Undefined if there is none, or if two are equally close.
 */
export function closestName(word: string, known: Iterable<string>): string | undefined {
  if (word.length > maxLength) return undefined;
  let found: string | undefined;
  let fewest = Math.floor(word.length / 3) + 1;
  for (const name of known) {
    if (Math.abs(name.length - word.length) >= fewest + 1) continue;
    const slips = slipsBetween(word.toLowerCase(), name.toLowerCase());
    if (slips === fewest) found = undefined;
    if (slips < fewest) [found, fewest] = [name, slips];
  }
  return found;
}

/** The distance of Damerau and Levenshtein, with transpositions of adjacent letters. */
function slipsBetween(one: string, other: string): number {
  let [before, previous]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1];
      let slips = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const crossed = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (row > 1 && column > 1 && crossed) slips = Math.min(slips, (before[column - 2] ?? 0) + 1);
      current.push(slips);
    }
    [before, previous] = [previous, current];
  }
  return previous[other.length] ?? 0;
}
