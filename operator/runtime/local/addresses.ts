import { ProgramError } from '../../../platform/errors/program-error.ts';
import { formatAddress, listen } from '../../../platform/http/listen.ts';
import {
  portOf,
  resolveContent as resolveContentWith,
  resolveText as resolveTextWith,
  type Symbols as WorkloadSymbols,
} from '../../contract/resolve.ts';
import type { FileContent, Port, Text, Workload, Probe } from '../../contract/workload.ts';
import { createServer, connect } from 'node:net';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { readMissing, waitsForHeader, type Missing } from '../../../protocol/waits-for.ts';

/** The symbols that the local runtime can resolve. */
export interface Symbols {
  /** Returns the last applied workload of a name, including the one that is resolved now. */
  workloads(name: string): Workload | undefined;
  mountPath(workload: string, mount: string): string;
  secret(name: string, key: string): string;
  certificate(name: string, part: 'certificate' | 'key' | 'ca'): Promise<string>;
}

export function resolveText(value: Text, workload: Workload, symbols: Symbols): string {
  return resolveTextWith(value, workload, symbolsOf(workload, symbols));
}

export function resolveContent(content: FileContent, workload: Workload, symbols: Symbols): Promise<string> {
  return resolveContentWith(content, workload, symbolsOf(workload, symbols));
}

/** Returns the address for clients on this machine. A port that listens on all addresses is reached by loopback. */
export function reachedAt({ host, port }: Pick<Port, 'host' | 'port'>): string {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return formatAddress({ host: reached, port });
}

function symbolsOf(workload: Workload, symbols: Symbols): WorkloadSymbols {
  return {
    listen: formatAddress,
    address: (name, port) => {
      const other = symbols.workloads(name);
      if (other === undefined) throw new Error(`${workload.name} needs the address of ${name}, which is not there`);
      return reachedAt(portOf(other, port));
    },
    mountPath: (mount) => symbols.mountPath(workload.name, mount),
    secret: (name, key) => symbols.secret(name, key),
    certificate: (name, part) => symbols.certificate(name, part),
  };
}

/** Returns why the ports are not free, with the port and the field to change; undefined when they are. */
export async function portError(ports: readonly Port[]): Promise<string | undefined> {
  for (const port of ports) {
    const server = createServer();
    try {
      await listen(server, { host: port.host, port: port.port }, { setting: port.field });
    } catch (error) {
      if (error instanceof ProgramError) return error.message;
      throw error;
    } finally {
      server.close();
    }
  }
  return undefined;
}

export type ProbeResult =
  | { readonly ok: true }
  /** `waitsFor` is what the program reports. */
  | { readonly ok: false; readonly message: string; readonly waitsFor?: Missing };

const timeoutMs = 2_000;

/** Probes a workload once. It does not check the certificate, like a kubelet: the probe asks only the owner of the port. */
export function probe(workload: Workload, kind: Probe): Promise<ProbeResult> {
  const at = reachedAt(portOf(workload, kind.port));
  return kind.kind === 'http' ? ask(`${kind.tls ? 'https' : 'http'}://${at}${kind.path}`) : tryConnect(at);
}

function ask(url: string): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const options = { agent: false, rejectUnauthorized: false, timeout: timeoutMs };
    const request = send(url, options, (response) => {
      response.resume();
      const status = response.statusCode ?? 0;
      const waitsFor = readMissing(response.headers[waitsForHeader]);
      if (status >= 200 && status < 300) resolve({ ok: true });
      else resolve({ ok: false, message: `${url} answered ${status}`, waitsFor });
    });
    request.on('timeout', () => request.destroy(new Error('no answer in time')));
    request.on('error', (error) => resolve({ ok: false, message: `${url}: ${error.message}` }));
    request.end();
  });
}

function tryConnect(address: string): Promise<ProbeResult> {
  const url = new URL(`tcp://${address}`);
  return new Promise((resolve) => {
    const socket = connect({ host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port), timeout: timeoutMs });
    const end = (result: ProbeResult) => {
      socket.destroy();
      resolve(result);
    };
    socket.on('connect', () => end({ ok: true }));
    socket.on('timeout', () => end({ ok: false, message: `${address}: no answer in time` }));
    socket.on('error', (error) => end({ ok: false, message: `${address}: ${error.message}` }));
  });
}
