import type { NameChange } from '../../../protocol/console/identity-answers.ts';

/** Returns the difference of two lists; undefined where they have the same names. */
export function nameChange(before: readonly string[], after: readonly string[]): NameChange | undefined {
  const add = after.filter((name) => !before.includes(name));
  const remove = before.filter((name) => !after.includes(name));
  return add.length === 0 && remove.length === 0 ? undefined : { add, remove };
}
