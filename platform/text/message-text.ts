/** `0 objects`, `1 object`, `2 objects`. A plural that does not end in `s` is given, with its verb where one follows. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/**
 * Writes a timeout for a message.
 *
 * @example
 *     timeoutText(30_000); // 30 s
 *     timeoutText(1_500); // 1.5 s
 *     timeoutText(250); // 250 ms
 */
export function timeoutText(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${Number((ms / 1_000).toFixed(1))} s`;
}
