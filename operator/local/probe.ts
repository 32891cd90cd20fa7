import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { readMissing, waitsForHeader, type Missing } from '../../protocol/health/waits-for.ts';
import { portOf } from '../render/resolve.ts';
import type { Probe, Workload } from '../workload.ts';
import { reachedAt } from './resolve.ts';

export type ProbeResult =
  | { readonly ok: true }
  /** `waitsFor` is what the program itself says. */
  | { readonly ok: false; readonly message: string; readonly waitsFor?: Missing };

const timeoutMs = 2_000;

/** Asks a workload once. The certificate is not checked, as a kubelet does not either: only the port's owner is asked about itself. */
export function probe(workload: Workload, kind: Probe): Promise<ProbeResult> {
  const at = reachedAt(portOf(workload, kind.port));
  return kind.kind === 'http' ? ask(`${kind.tls ? 'https' : 'http'}://${at}${kind.path}`) : knock(at);
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
      else resolve({ ok: false, message: `${url} answered ${status}`, ...(waitsFor && { waitsFor }) });
    });
    request.on('timeout', () => request.destroy(new Error('no answer in time')));
    request.on('error', (error) => resolve({ ok: false, message: `${url}: ${error.message}` }));
    request.end();
  });
}

function knock(address: string): Promise<ProbeResult> {
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
