/** One line for each field that has a value, aligned. What came over the network cannot steer the terminal. */
export function fieldLines(fields: readonly (readonly [name: string, value: unknown])[]): string {
  const told = fields.filter(([, value]) => value !== undefined && value !== '');
  const width = Math.max(...told.map(([name]) => name.length));
  return told.map(([name, value]) => `${name.padEnd(width)}  ${printable(String(value))}\n`).join('');
}

/** Without characters that a terminal takes for commands. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex -- these are the characters meant
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}
