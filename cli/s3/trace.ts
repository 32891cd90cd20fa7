import type { IncomingMessage } from 'node:http';
import type { Outgoing } from './exchange.ts';

/** Writes what goes over the wire for `--debug`, without what would let a reader sign requests. */
export type Trace = (line: string) => void;

const secret = new Set(['x-amz-security-token', 'cookie', 'set-cookie']);

export function traceRequest(trace: Trace, outgoing: Outgoing): void {
  trace(`> ${outgoing.method} ${redactQuery(outgoing.target)} HTTP/1.1`);
  for (const [name, value] of Object.entries(outgoing.headers)) trace(`> ${name}: ${redactHeader(name, value)}`);
  trace('>');
}

export function traceResponse(trace: Trace, response: IncomingMessage, milliseconds: number): void {
  trace(
    `< HTTP/${response.httpVersion} ${response.statusCode} ${response.statusMessage} (${milliseconds.toFixed(1)} ms)`,
  );
  for (const [name, value] of Object.entries(response.headers))
    trace(`< ${name}: ${redactHeader(name, String(value))}`);
  trace('<');
}

function redactHeader(name: string, value: string): string {
  if (secret.has(name)) return '**REDACTED**';
  return name === 'authorization'
    ? value
        .replace(/^Bearer .*/, 'Bearer **REDACTED**')
        .replace(/Credential=[^/]*\//, 'Credential=**REDACTED**/')
        .replace(/Signature=.*/, 'Signature=**REDACTED**')
    : value;
}

function redactQuery(target: string): string {
  return target.replaceAll(/(X-Amz-(?:Signature|Security-Token|Credential))=[^&]*/g, '$1=**REDACTED**');
}
