import type { Command } from 'commander';
import type { StatusAnswer } from '../../protocol/key-service/payloads.ts';
import { callKeyServer, connected } from './call-key-server.ts';
import type { CallOptions } from './call-key-server.ts';
import { fieldLines, printable } from './field-lines.ts';
import type { Terminal } from './terminal.ts';

export function addStatus(program: Command, terminal: Terminal): void {
  type Options = CallOptions & { readonly short?: boolean; readonly api?: boolean };
  connected(program.command('status').description('tell whether a key server and its key store answer'))
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

/** Nanoseconds in the first generation, seconds in the second: no server has been up for 30 years, or for a fraction of a second. */
function secondsOf(uptime: number): number {
  return uptime > 1_000_000_000 ? uptime / 1_000_000_000 : uptime;
}
