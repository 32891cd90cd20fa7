/** A line of an environment file that cannot be understood. The message names the line, never its value. */
export class EnvFileError extends Error {
  override readonly name = 'EnvFileError';
}

const assignment = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s;

/**
 * Reads `NAME=value` lines as systemd and a shell would: `export` in front, `#` comments, single quotes (as is), double quotes
 * (with `\"`, `\\`, `\$`, `` \` `` escaped), and bare values, which end at ` #`. Nothing is expanded. A later line wins.
 *
 * @throws EnvFileError naming the line number
 */
export function parseEnvFile(text: string, path: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const [index, raw] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const [, name, rest] = assignment.exec(line) ?? [];
    if (name === undefined || rest === undefined) {
      throw new EnvFileError(`${path}, line ${index + 1}: expected NAME=value`);
    }
    values.set(name, parseValue(rest, `${path}, line ${index + 1}, ${name}`));
  }
  return values;
}

function parseValue(text: string, where: string): string {
  const quote = text[0];
  if (quote !== '"' && quote !== "'") return text.replace(/\s+#.*$/s, '').trimEnd();
  const quoted = quote === "'" ? /^'([^']*)'\s*(?:#.*)?$/s : /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/s;
  const body = quoted.exec(text)?.[1];
  if (body === undefined)
    throw new EnvFileError(`${where}: the ${quote} that opens the value is not closed at its end`);
  return quote === "'" ? body : body.replace(/\\(["\\$`])/g, '$1');
}
