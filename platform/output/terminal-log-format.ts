import { printable } from '../text/printable.ts';

const colours: Readonly<Record<string, string>> = {
  warn: '\u001b[33m',
  error: '\u001b[31m',
  fatal: '\u001b[31m',
  debug: '\u001b[2m',
  trace: '\u001b[2m',
};
const reset = '\u001b[0m';
const dim = '\u001b[2m';
/** Fields that a reader at a terminal does not need, or that are elsewhere in the line. */
const left = new Set(['level', 'time', 'name', 'msg', 'err', 'pid', 'hostname']);

/** Formats a JSON line of the log as `12:00:01 warn  coffer-server  message  field=value`. */
export function formatForTerminal(line: string, colour = true): string {
  let record: Record<string, unknown>;
  try {
    record = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  const level = text(record['level']);
  const time = text(record['time']).slice(11, 19);
  const fields = Object.entries(record)
    .filter(([name]) => !left.has(name))
    .map(([name, value]) => `${name}=${text(value)}`);
  const paint = (code: string | undefined, words: string) =>
    colour && code !== undefined ? `${code}${words}${reset}` : words;
  const head = `${paint(dim, time)} ${paint(colours[level], level.padEnd(5))} ${paint(dim, text(record['name']))}  ${text(record['msg'])}`;
  const tail = fields.length === 0 ? '' : `  ${paint(dim, fields.join(' '))}`;
  return `${head}${tail}\n${errorLines(record['err'], level)}`;
}

/** Formats the cause of a warning in one line. An unexpected error also has its stack, for a bug report. */
function errorLines(error: unknown, level: string): string {
  if (typeof error !== 'object' || error === null) return '';
  const { message, stack, code } = error as { message?: unknown; stack?: unknown; code?: unknown };
  if (level === 'fatal' && typeof stack === 'string') return `    ${text(stack)}\n`;
  return `    ${text(message)}${typeof code === 'string' ? ` (${text(code)})` : ''}\n`;
}

function text(value: unknown): string {
  if (value === undefined) return '';
  return harmless(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Escapes what could control the terminal. Further lines are indented, so that they look like no line of the log. */
function harmless(value: string): string {
  return value.split('\n').map(printable).join('\n    ');
}
