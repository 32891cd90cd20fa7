import { adminOf, jsonLines } from '../admin-client.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { Context } from '../context.ts';
import { printable } from '../../../platform/text/printable.ts';

interface LogsOptions {
  /** The number of earlier lines. */
  readonly last?: string;
  readonly type?: string;
}

interface LogEntry {
  readonly ConsoleMsg?: string;
  readonly level?: string;
  readonly time?: string;
  readonly node?: string;
  readonly message?: string;
  readonly error?: { readonly message?: string } | null;
}

const types = ['minio', 'application', 'all'];

/** Shows the last lines of the server's log and follows it until Ctrl-C. */
export async function logs(
  context: Context,
  [alias = '', node = '']: readonly string[],
  { last = '10', type = 'all' }: LogsOptions,
): Promise<void> {
  if (!/^[1-9]\d{0,6}$/.test(last)) {
    throw new ProgramError('BadArgument', `Invalid --last \`${last}\`: it is a number of lines from 1`);
  }
  if (!types.includes(type))
    throw new ProgramError('BadArgument', `Invalid --type \`${type}\`: it is ${types.join(', ')}`);
  const admin = await adminOf(context, alias);
  const { body } = await admin.stream({ method: 'GET', call: 'log', query: { node, limit: last, logType: type } });
  for await (const entry of jsonLines<LogEntry>(body)) await context.output.line(logText(entry), { ...entry });
  throw new ProgramError('Failed', 'The server ended the log; it may be restarting');
}

function logText({ ConsoleMsg = '', level = '', time = '', node = '', message, error }: LogEntry): string {
  const said = ConsoleMsg === '' ? [time, level, message ?? error?.message ?? ''].join(' ') : ConsoleMsg;
  const lines = said.split('\n').map(printable);
  return `${node === '' ? '' : `${printable(node)} `}${lines.join('\n')}`;
}
