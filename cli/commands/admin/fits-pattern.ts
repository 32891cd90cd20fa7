/** Whether the whole text fits, without regard to case; `*` stands for any characters, `?` for one. */
export function fitsPattern(pattern: string, text: string): boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 'is').test(text);
}
