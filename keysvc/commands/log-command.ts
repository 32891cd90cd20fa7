import type { Command } from 'commander';
import type { AuditEvent, ErrorEvent } from './answers.ts';
import { callKeyServer, connected } from './call-key-server.ts';
import type { CallOptions } from './call-key-server.ts';
import { printable } from './field-lines.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

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
