import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:https';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CertificateAndKey } from '../../platform/tls/certificate-and-key.ts';
import { tool } from '../support/process/run-command.ts';

/** A process of stock KES. */
export interface StockKes {
  stop(): Promise<void>;
}

interface StartOptions {
  readonly config: string;
  readonly port: number;
  /** The working folder, and the home. */
  readonly folder: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Starts stock KES and waits until it takes connections. Rejects with the last line of what it says if it ends.
 */
export async function startKes({ config, port, folder, environment }: StartOptions): Promise<StockKes> {
  const child = spawn(tool('bin/kes', 'kes'), ['server', '--config', config], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  for (const end = Date.now() + 60_000; !(await listens(port)); await sleep(30)) {
    if (child.exitCode !== null) throw new Error(`kes ended: ${said.trim().split('\n').at(-1)}`);
    if (Date.now() > end) {
      await kill(child);
      throw new Error(`kes does not listen: ${said}`);
    }
  }
  return { stop: () => kill(child) };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

export interface Answer {
  readonly status: number;
  /** Empty where the answer is not an object of JSON. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Asks a server of the protocol on this machine by the certificate of a client. */
export function askBy(
  { ca, client }: { readonly ca: CertificateAndKey; readonly client?: CertificateAndKey },
  port: number,
  [method, path, body]: readonly [method: string, path: string, body?: string | undefined],
): Promise<Answer> {
  const credentials = client === undefined ? {} : { cert: client.certPem, key: client.keyPem };
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host: '127.0.0.1',
        port,
        method,
        path,
        ca: ca.certPem,
        agent: false,
        headers: { 'content-type': 'application/json' },
        ...credentials,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: jsonOf(Buffer.concat(chunks).toString()) }),
        );
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });
}

function jsonOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
