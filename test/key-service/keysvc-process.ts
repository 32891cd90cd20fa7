import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CertificateAndKey } from '../../platform/certificates/certificate-and-key.ts';
import { issueCertificate } from '../../platform/certificates/issue-certificate.ts';

const main = fileURLToPath(new URL('../../keysvc/main.ts', import.meta.url));

/** A `keysvc` process, and what it has written so far. */
export interface KeysvcProcess {
  readonly address: string;
  readonly lines: readonly Record<string, unknown>[];
  signal(signal: NodeJS.Signals): void;
  /** Asks it to stop; the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of `keysvc` to its end. */
export async function runKeysvc(args: readonly string[], environment: Record<string, string> = {}): Promise<Finished> {
  const child = spawn(process.execPath, [main, ...args], { env: { ...plainEnvironment(), ...environment } });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

/** Starts `keysvc server` and waits until it listens. */
export async function startKeysvc(
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<KeysvcProcess> {
  const child = spawn(process.execPath, [main, 'server', ...args], { env: { ...plainEnvironment(), ...environment } });
  const lines: Record<string, unknown>[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let rest = '';
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdout.on('data', (chunk: Buffer) => {
    const texts = (rest + chunk.toString()).split('\n');
    rest = texts.pop() ?? '';
    for (const text of texts) {
      const line = JSON.parse(text) as Record<string, unknown>;
      lines.push(line);
      if (line['event'] === 'listening') resolve(String(line['address']));
    }
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  closed.then(([code]) => reject(new Error(`keysvc exited with ${code}: ${stderr}`)), reject);
  return {
    address: await promise,
    lines,
    signal: (signal) => void child.kill(signal),
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      return (await closed)[0];
    },
  };
}

/** Certificate and key as files `NAME.crt` and `NAME.key`. */
export async function writePair(folder: string, name: string, pair: CertificateAndKey) {
  await mkdir(folder, { recursive: true });
  const certFile = join(folder, `${name}.crt`);
  const keyFile = join(folder, `${name}.key`);
  await writeFile(certFile, pair.certPem);
  await writeFile(keyFile, pair.keyPem, { mode: 0o600 });
  return { certFile, keyFile };
}

export function issue(issuer: CertificateAndKey, commonName: string, keyPem?: string): Promise<CertificateAndKey> {
  return issueCertificate({
    commonName,
    issuer,
    validForMs: 3_600_000,
    ipAddresses: ['127.0.0.1'],
    ...(keyPem === undefined ? {} : { keyPem }),
  });
}

/** Without what the machine or the test runner would bring in. */
function plainEnvironment(): Record<string, string | undefined> {
  return { PATH: process.env['PATH'], HOME: process.env['HOME'] };
}
