/** Reads the settings of the environment from the text of a subsystem: its comments `# VARIABLE=value`. */
export function givenValues(text: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name, value] = /^# ([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) values.set(name, value);
  }
  return values;
}
