import type { Pair } from '../api/object-properties.ts';

/**
 * Returns the tags to write: those that are there now, with what the user added, changed and removed of those that the form showed. Names that
 * the user gave twice stay so, and the server refuses them.
 */
export function changedTags(shown: readonly Pair[], edited: readonly Pair[], now: readonly Pair[]): readonly Pair[] {
  const written = edited.flatMap((tag) => {
    if (valueIn(shown, tag.name) !== tag.value) return [tag];
    const value = valueIn(now, tag.name);
    return value === undefined ? [] : [{ name: tag.name, value }];
  });
  const others = now.filter(({ name }) => valueIn(shown, name) === undefined && valueIn(edited, name) === undefined);
  return [...written, ...others];
}

function valueIn(tags: readonly Pair[], name: string): string | undefined {
  return tags.find((tag) => tag.name === name)?.value;
}
