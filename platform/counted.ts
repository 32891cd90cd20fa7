/** `0 objects`, `1 object`, `2 objects`. A plural that does not end in `s` is given, with its verb where one follows. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
