import { formatForTerminal } from '../../platform/terminal-log-format.ts';

/** Of errors of the server itself, and of what it has to say otherwise. */
export type LogKind = 'MINIO' | 'APPLICATION';

export interface LogEntry {
  readonly level: string;
  readonly errKind: LogKind;
  readonly time: string;
  readonly [field: string]: unknown;
}

export interface LogSource {
  readonly deploymentId: string;
  readonly node: string;
}

/** A line of the log as `mc admin logs` reads it. The log has taken secrets out before. */
export function logEntry(line: string, { deploymentId, node }: LogSource): LogEntry {
  const { level, time, msg, requestId, remoteAddress, err } = fieldsOf(line);
  const isError = level === 'error' || level === 'fatal';
  return {
    deploymentid: deploymentId,
    level: (text(level) ?? 'info').toUpperCase(),
    errKind: isError ? 'MINIO' : 'APPLICATION',
    time: text(time) ?? new Date(0).toISOString(),
    ...optional('requestID', text(requestId)),
    ...optional('remotehost', text(remoteAddress)),
    message: text(msg) ?? line,
    ...optional('error', errorOf(err)),
    ConsoleMsg: formatForTerminal(line, false).trimEnd(),
    node,
  };
}

/** A line that was too long is cut, and no JSON any more: it is shown as it is. */
function fieldsOf(line: string): Readonly<Record<string, unknown>> {
  try {
    const fields: unknown = JSON.parse(line);
    return typeof fields === 'object' && fields !== null ? (fields as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function errorOf(err: unknown): object | undefined {
  if (typeof err !== 'object' || err === null) return undefined;
  const { message, stack } = err as { readonly message?: unknown; readonly stack?: unknown };
  const source = (text(stack) ?? '').split('\n').slice(1);
  return { message: text(message) ?? '', ...(source.length === 0 ? {} : { source: source.map((one) => one.trim()) }) };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function optional(name: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [name]: value };
}
