import type { Command } from 'commander';
import { z } from 'zod';
import { callKeyServer, connected } from './call-key-server.ts';
import type { CallOptions } from './call-key-server.ts';
import { printable } from './field-lines.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const auditEvent = z.object({
  time: z.string(),
  request: z.object({ ip: z.string().optional(), path: z.string(), identity: z.string().optional() }),
  response: z.object({ code: z.number(), time: z.number() }),
});
const errorEvent = z.object({ message: z.string() });

export function addLog(program: Command, terminal: Terminal): void {
  type Options = CallOptions & { readonly audit?: boolean; readonly error?: boolean };
  connected(program.command('log').description('show what a key server does from now on, until interrupted'))
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
        throw new UsageError('--audit and --error are two streams: watch each with a command of its own');
      }
      const [path, show] = options.error === true ? ['/v1/log/error', failure] : ['/v1/log/audit', call];
      return callKeyServer(terminal, options, async (client) => {
        for await (const line of client.stream(path, terminal.interrupted)) {
          terminal.write(`${options.json === true || !terminal.isTerminal ? line : show(JSON.parse(line))}\n`);
        }
        if (!terminal.interrupted.aborted)
          throw new Error('the key server ended the stream: it stops, or this reader was too slow');
      });
    });
}

function call(json: unknown): string {
  const { time, request, response } = auditEvent.parse(json);
  // Nanoseconds.
  const latency = `${(response.time / 1_000_000).toFixed(1)} ms`;
  const who = request.identity === undefined ? '-' : `${request.identity.slice(0, 8)}…`;
  const columns = [time, String(response.code), who.padEnd(9), (request.ip ?? '-').padEnd(15), request.path, latency];
  return columns.map(printable).join('  ');
}

function failure(json: unknown): string {
  return printable(errorEvent.parse(json).message);
}
