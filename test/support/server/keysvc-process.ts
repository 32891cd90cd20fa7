import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CertificateAndKey } from '../../../platform/tls/certificate-and-key.ts';
import { issueCertificate, makeCa } from '../../../platform/tls/issue-certificate.ts';
import { identityOfCertificate } from '../../../protocol/key-service/identity.ts';
import { programArguments, programEnvironment } from '../process/program.ts';

const program = programArguments(new URL('../../../keysvc/main.ts', import.meta.url));

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
  const child = spawn(process.execPath, [...program, ...args], { env: { ...plainEnvironment(), ...environment } });
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
  const child = spawn(process.execPath, [...program, 'server', ...args], {
    env: { ...plainEnvironment(), ...environment },
  });
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
  return { PATH: process.env['PATH'], HOME: process.env['HOME'], ...programEnvironment };
}

export interface KeyService {
  /** What a server is told of it. */
  readonly env: Readonly<Record<string, string>>;
  /** What it has written so far. */
  readonly lines: readonly Record<string, unknown>[];
  stop(): Promise<unknown>;
}

interface KeyServiceOptions {
  /** The line of the configuration; keys in files of the folder by default. */
  readonly keystore?: string;
  /** The expiry of the cache; that of the program by default. */
  readonly cache?: string;
  readonly environment?: Record<string, string>;
}

/** A key service in a process of its own, which goes on while servers are killed. */
export async function startKeyService(folder: string, options: KeyServiceOptions = {}): Promise<KeyService> {
  // Longer than any soak.
  const validForMs = 7 * 86_400_000;
  const ca = await makeCa({ commonName: 'test', validForMs });
  const issue = (commonName: string) =>
    issueCertificate({ commonName, issuer: ca, validForMs, ipAddresses: ['127.0.0.1'] });
  const caFile = join(folder, 'ca.crt');
  await writeFile(caFile, ca.certPem);
  const app = await issue('app');
  const appFiles = await writePair(folder, 'app', app);
  const keysFiles = await writePair(folder, 'keys', await issue('keys'));
  const config = join(folder, 'keysvc.yaml');
  await writeFile(
    config,
    `
address: 127.0.0.1:0
root: disabled
tls: { key: ${keysFiles.keyFile}, cert: ${keysFiles.certFile}, ca: ${caFile} }
policy:
  app:
    allow: [/v1/key/create/*, /v1/key/generate/*, /v1/key/decrypt/*, /v1/key/describe/*, /v1/key/rotate/*, /v1/key/list, /v1/status, /v1/ready]
    identities: [${identityOfCertificate(app.certPem)}]
keys: [{ name: main-key }]
keystore: ${options.keystore ?? `{ fs: { path: ${join(folder, 'key-files')} } }`}
${options.cache === undefined ? '' : `cache: { expiry: ${options.cache} }`}
`,
  );
  const keysvc = await startKeysvc(['--config', config], options.environment);
  return {
    lines: keysvc.lines,
    env: {
      SVC_KMS_KEYSVC_ENDPOINT: `https://${keysvc.address}`,
      SVC_KMS_KEYSVC_KEY_NAME: 'main-key',
      SVC_KMS_KEYSVC_CERT_FILE: appFiles.certFile,
      SVC_KMS_KEYSVC_KEY_FILE: appFiles.keyFile,
      SVC_KMS_KEYSVC_CAPATH: caFile,
    },
    stop: () => keysvc.stop(),
  };
}
