import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { parseDuration } from '../config/duration.ts';
import { callKeyServer, connected } from './call-key-server.ts';
import type { CallOptions } from './call-key-server.ts';
import { fieldLines } from './field-lines.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

export function addMetric(program: Command, terminal: Terminal): void {
  type Options = CallOptions & { readonly rate?: string };
  connected(program.command('metric').description('show what a key server counts, once or again and again'))
    .option('--rate <duration>', 'show it again in this rhythm, until interrupted, such as 5s')
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
    throw new UsageError(`--rate "${text}" is no duration; write for example 5s`);
  return rate;
}

/** For a person the few numbers that matter; for a program everything, as Prometheus reads it, or as JSON. */
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

/** Every sample by its name and labels. */
export function samplesOf(text: string): Map<string, number> {
  const samples = text.split('\n').flatMap((line) => {
    const [, name, value] = /^([a-zA-Z_:][\w:]*(?:\{[^}]*\})?) (\S+)/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, Number(value)] as const];
  });
  return new Map(samples);
}
