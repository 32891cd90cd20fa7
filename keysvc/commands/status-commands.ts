import { ProgramError } from '../../platform/errors/program-error.ts';
import type { Command } from 'commander';
import type { StatusAnswer } from '../../protocol/key-service/payloads.ts';
import { callKeyServer, connected, type CallOptions, fieldLines } from './call-key-server.ts';
import { printable } from '../../platform/text/printable.ts';
import { type Terminal } from './terminal.ts';
import type { AuditEvent, ErrorEvent } from './answers.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseDuration } from '../config/duration.ts';

export function addStatus(program: Command, terminal: Terminal): void {
  type Options = CallOptions & { readonly short?: boolean; readonly api?: boolean };
  connected(program.command('status').description('show whether a key server and its key store answer'))
    .option('-s, --short', 'one line')
    .option('--api', 'also list the calls that it answers')
    .action((options: Options) =>
      callKeyServer(terminal, options, async (client) => {
        const status = await client.status();
        const { apisAnswer } = await import('./answers.ts');
        const apis = options.api === true ? apisAnswer.parse(JSON.parse(await client.ask('GET', '/v1/api'))) : [];
        if (options.json === true) {
          return terminal.write(`${JSON.stringify(options.api === true ? { ...status, apis } : status)}\n`);
        }
        terminal.write(options.short === true ? `${keyStoreState(status)}\n` : describe(status));
        for (const { method, path, max_body, timeout } of apis) {
          const time = timeout === 0 ? 'no limit' : `${timeout} s`;
          terminal.write(
            `${method.padEnd(6)} ${printable(path).padEnd(28)} ${String(max_body).padStart(8)} B  ${time}\n`,
          );
        }
      }),
    );
}

function describe(status: StatusAnswer): string {
  const { version, os, arch, uptime } = status;
  return fieldLines([
    ['Version', version],
    ['System', os === undefined ? undefined : `${os} ${arch ?? ''}`],
    ['Up for', uptime === undefined ? undefined : `${Math.round(secondsOf(uptime))} s`],
    ['Key store', keyStoreState(status)],
  ]);
}

function keyStoreState(status: StatusAnswer): string {
  if (status.keystore_unreachable === true) return 'not reachable';
  if (status.keystore_unavailable === true) return 'fails';
  return status.keystore_latency === undefined ? 'answers' : `answers in ${status.keystore_latency} ms`;
}

/** The first generation sends nanoseconds, the second seconds. No server is up for 30 years, or for a fraction of a second. */
function secondsOf(uptime: number): number {
  return uptime > 1_000_000_000 ? uptime / 1_000_000_000 : uptime;
}

export function addLog(program: Command, terminal: Terminal): void {
  type Options = CallOptions & { readonly audit?: boolean; readonly error?: boolean };
  connected(program.command('log').description('follow the calls or failures of a key server, until interrupted'))
    .option('--audit', 'each call (the default)')
    .option('--error', 'each failure of the server')
    .addHelpText(
      'after',
      `
Examples:
  keysvc log
  keysvc log --error --json >> errors.ndjson`,
    )
    .action((options: Options) => {
      if (options.audit === true && options.error === true) {
        throw new ProgramError('usage', '--audit and --error are two streams: watch each with a command of its own');
      }
      const path = options.error === true ? '/v1/log/error' : '/v1/log/audit';
      return callKeyServer(terminal, options, async (client) => {
        const events = await import('./answers.ts');
        const show = (json: unknown) =>
          options.error === true ? failure(events.errorEvent.parse(json)) : call(events.auditEvent.parse(json));
        for await (const line of client.stream(path, terminal.interrupted)) {
          terminal.write(`${options.json === true || !terminal.isTerminal ? line : show(JSON.parse(line))}\n`);
        }
        if (!terminal.interrupted.aborted)
          throw new Error('the key server ended the stream: it stops, or this reader was too slow');
      });
    });
}

function call({ time, request, response }: AuditEvent): string {
  // Nanoseconds.
  const latency = `${(response.time / 1_000_000).toFixed(1)} ms`;
  const who = request.identity === undefined ? '-' : `${request.identity.slice(0, 8)}…`;
  const columns = [time, String(response.code), who.padEnd(9), (request.ip ?? '-').padEnd(15), request.path, latency];
  return columns.map(printable).join('  ');
}

function failure({ message }: ErrorEvent): string {
  return printable(message);
}

export function addMetric(program: Command, terminal: Terminal): void {
  type Options = CallOptions & { readonly rate?: string };
  connected(program.command('metric').description('show the metrics of a key server'))
    .option('--rate <duration>', 'repeat at this interval, such as 5s, until interrupted')
    .action((options: Options) => {
      const rate = rateOf(options.rate);
      return callKeyServer(terminal, options, async (client) => {
        do {
          const text = await client.ask('GET', '/v1/metrics');
          terminal.write(shown(text, options, terminal));
          if (rate === undefined) return;
          await sleep(rate, undefined, { signal: terminal.interrupted }).catch(() => undefined);
        } while (!terminal.interrupted.aborted);
      });
    });
}

function rateOf(text: string | undefined): number | undefined {
  const rate = text === undefined ? undefined : parseDuration(text);
  if (text !== undefined && (rate === undefined || rate === 0))
    throw new ProgramError('usage', `--rate "${text}" is no duration; write for example 5s`);
  return rate;
}

/** A terminal shows the important numbers; other readers get the text of Prometheus, or JSON. */
function shown(text: string, options: CallOptions, terminal: Terminal): string {
  const values = samplesOf(text);
  if (options.json === true) return `${JSON.stringify(Object.fromEntries(values))}\n`;
  if (!terminal.isTerminal) return text;
  const sum = (family: string) =>
    [...values].filter(([name]) => name.startsWith(family)).reduce((total, [, value]) => total + value, 0);
  return fieldLines([
    ['Calls answered', sum('kes_http_request_success')],
    ['Calls refused', sum('kes_http_request_error')],
    ['Calls failed', sum('kes_http_request_failure')],
    ['Calls under way', sum('kes_http_request_active')],
    ['Up for', `${Math.round(values.get('kes_system_up_time') ?? 0)} s`],
    ['Heap', `${Math.round((values.get('kes_system_mem_heap_used') ?? 0) / 1024 / 1024)} MiB`],
  ]);
}

/** Returns every sample by its name and labels. */
function samplesOf(text: string): Map<string, number> {
  const samples = text.split('\n').flatMap((line) => {
    const [, name, value] = /^([a-zA-Z_:][\w:]*(?:\{[^}]*\})?) (\S+)/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, Number(value)] as const];
  });
  return new Map(samples);
}
