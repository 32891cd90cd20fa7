import { formatSize } from '../../terminal/format.ts';
import { printable } from '../../../platform/text/printable.ts';

/** A traced request. Servers differ, so any field may be missing. Times are nanoseconds. */
export interface TraceLine {
  readonly type?: number;
  readonly nodename?: string;
  readonly funcname?: string;
  readonly time?: string;
  readonly path?: string;
  readonly dur?: number;
  readonly msg?: string;
  readonly error?: string;
  readonly http?: {
    readonly request?: {
      readonly method?: string;
      readonly path?: string;
      readonly rawquery?: string;
      readonly headers?: Headers;
      readonly client?: string;
    };
    readonly response?: { readonly headers?: Headers; readonly statuscode?: number };
    readonly stats?: {
      readonly inputbytes?: number;
      readonly outputbytes?: number;
      readonly timetofirstbyte?: number;
    };
  };
}

type Headers = Readonly<Record<string, readonly string[] | string>>;

const typeNames: Readonly<Record<number, string>> = { 1: 'OS', 2: 'Storage', 4: 'S3', 8: 'Internal' };

/** Returns the fields of stock clients. */
export function traceFields(line: TraceLine, verbose: boolean): Record<string, unknown> {
  const { nodename = '', time = '', dur = 0, funcname = '', type = 0, error = '', msg } = line;
  const request = requestOf(line);
  const { rx, tx, timeToFirstByte } = statsOf(line);
  return {
    host: nodename,
    time,
    client: request.client,
    callStats: { rx, tx, duration: dur, timeToFirstByte },
    duration: dur,
    api: funcname,
    path: request.path,
    query: request.query,
    statusCode: line.http?.response?.statuscode ?? 0,
    type: typeNames[type] ?? String(type),
    size: rx + tx,
    error,
    msg,
    ...(verbose
      ? {
          request: { method: request.method, path: request.path, headers: withoutSecrets(request.headers) },
          response: {
            statusCode: line.http?.response?.statuscode ?? 0,
            headers: withoutSecrets(line.http?.response?.headers),
          },
        }
      : {}),
  };
}

/** Returns one line, or with `verbose` a block with the headers. */
export function traceText(line: TraceLine, verbose: boolean): string {
  const { nodename = '', time, dur = 0, funcname = '' } = line;
  const request = requestOf(line);
  const target = request.query === '' ? request.path : `${request.path}?${request.query}`;
  const status = line.http?.response?.statuscode;
  const head = [
    `${clock(time)}${status === undefined ? '' : ` [${status}]`} ${funcname} ${nodename}${target}`,
    request.client,
    formatNanoseconds(dur),
    sizesOf(line),
  ];
  const details = [
    `  ${request.method} ${target}`,
    ...headerLines('  > ', request.headers),
    ...headerLines('  < ', line.http?.response?.headers),
  ];
  const said = [line.error, line.msg].filter((text) => text !== undefined && text !== '').map((text) => `  ${text}`);
  const shown = [head.filter((part) => part !== '').join('  '), ...(verbose && line.http ? details : []), ...said];
  return shown.map(printable).join('\n');
}

function requestOf(line: TraceLine) {
  const {
    method = '',
    path = line.path ?? '',
    rawquery: query = '',
    client = '',
    headers = {},
  } = line.http?.request ?? {};
  return { method, path, query, client, headers };
}

function statsOf({ http }: TraceLine) {
  const { inputbytes: rx = 0, outputbytes: tx = 0, timetofirstbyte: timeToFirstByte = 0 } = http?.stats ?? {};
  return { rx, tx, timeToFirstByte };
}

function sizesOf(line: TraceLine): string {
  const { rx, tx } = statsOf(line);
  return line.http?.stats === undefined ? '' : `↑ ${formatSize(rx)} ↓ ${formatSize(tx)}`;
}

function headerLines(indent: string, headers: Headers | undefined): string[] {
  return Object.entries(withoutSecrets(headers)).map(([name, value]) => `${indent}${name}: ${value}`);
}

/** Other servers trace whole signatures. */
const secret = /^(authorization|cookie|set-cookie|x-amz-security-token|x-amz-.*customer-key)$/i;

function withoutSecrets(headers: Headers = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      secret.test(name) ? '**REDACTED**' : [value].flat().join(', '),
    ]),
  );
}

function clock(time: string | undefined): string {
  return (time ?? '').replace(/(\.\d{3})\d*/, '$1').replace(/Z$/, '');
}

/** `531µs`, `3.042ms`, `1.2s`. */
export function formatNanoseconds(duration: number): string {
  if (duration < 1e6) return `${Math.round(duration / 1e3)}µs`;
  return duration < 1e9 ? `${(duration / 1e6).toFixed(3)}ms` : `${(duration / 1e9).toFixed(3)}s`;
}
