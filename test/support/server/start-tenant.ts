import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { stringify } from 'yaml';
import { allocatorEnvironment } from '../../../bin/allocator.js';
import { freePort } from '../process/free-port.ts';
import { programEnvironment, tenantSettings } from '../process/program.ts';
import { quickStartArguments } from '../process/quick-start.ts';

interface TenantOptions {
  /** The `spec` of the IdentityProvider `primary-iam`, its `clientSecretRef` aside; without it one that nobody answers for. */
  readonly identityProvider?: Readonly<Record<string, unknown>>;
  readonly clientSecret?: string;
  /** The default key of its key service; `tenant-key` without it. */
  readonly defaultKey?: string;
  readonly args?: readonly string[];
}

export interface RunningTenant {
  readonly s3: string;
  readonly console: string;
  readonly state: string;
  readonly root: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Every line of the terminal so far. */
  readonly lines: readonly string[];
  /** Resolves with the first line that contains the text, among those after the first `from` ones. */
  untilSays(text: string, from?: number): Promise<string>;
  writeIdentityProvider(spec: Readonly<Record<string, unknown>>): Promise<void>;
  writeClientSecret(value: string): Promise<void>;
  stop(): Promise<void>;
}

/** Nothing listens on the discard port: the tenant starts without the provider and says so. */
const absentProvider = {
  configUrl: 'http://127.0.0.1:9/realms/none/.well-known/openid-configuration',
  clientId: 'none',
};
/** Milliseconds. A start takes three seconds on two idle cores. */
const startsWithinMs = 50_000;
const rootUser = 'tenant-root';
const rootPassword = 'tenant-root-password';

/** A whole tenant by the local runtime as `npm start` runs it: server, key service, and an identity provider of the test's. */
export async function startTenant(options: TenantOptions = {}): Promise<RunningTenant> {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-tenant-'));
  const [manifests, state] = [join(folder, 'manifests'), join(folder, 'state')];
  await mkdir(manifests);
  const ports = { s3: await freePort(), console: await freePort(), keys: await freePort() };
  const write = (name: string, kind: string, spec: object, apiVersion = 'coffer.dev/v1alpha1') => {
    const body = apiVersion === 'v1' ? spec : { spec };
    return writeFile(join(manifests, `${name}.yaml`), stringify({ apiVersion, kind, metadata: { name }, ...body }));
  };
  const host = '127.0.0.1';
  const writeIdentityProvider = (spec: Readonly<Record<string, unknown>>) =>
    write('primary-iam', 'IdentityProvider', {
      ...spec,
      clientSecretRef: { name: 'primary-iam-client', key: 'client-secret' },
    });
  const writeClientSecret = (value: string) =>
    write('primary-iam-client', 'Secret', { stringData: { 'client-secret': value } }, 'v1');
  await writeIdentityProvider(options.identityProvider ?? absentProvider);
  await writeClientSecret(options.clientSecret ?? 'none');
  await write('keys', 'KMSConfig', {
    address: { host, port: ports.keys },
    keystore: { files: {} },
    defaultKey: options.defaultKey ?? 'tenant-key',
  });
  await write('whole-way', 'Tenant', {
    addresses: { s3: { host, port: ports.s3 }, console: { host, port: ports.console } },
    identityProviders: [{ name: 'primary-iam' }],
    kmsConfigRef: { name: 'keys' },
    settings: tenantSettings,
  });

  const args = [
    ...quickStartArguments(),
    '--state',
    state,
    '--manifests',
    manifests,
    ...(options.args ?? ['--no-demo-idp']),
  ];
  const child = spawn(process.execPath, args, {
    env: {
      ...allocatorEnvironment,
      ...programEnvironment,
      PATH: process.env['PATH'] ?? '',
      SVC_ROOT_USER: rootUser,
      SVC_ROOT_PASSWORD: rootPassword,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      for (const look of waiting) look();
    });
  }
  const exited = new Promise<number | null>((resolve) => {
    child.on('exit', (code) => resolve(code));
  });
  function untilSays(text: string, from = 0): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = lines.slice(from).find((line) => line.includes(text));
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
      const fail = (code: number | null) =>
        reject(new Error(`exited with ${code} before it said "${text}":\n${lines.join('\n')}`));
      void exited.then(fail);
    });
  }
  // Sooner than a hook's own deadline, which would not tell what the tenant said.
  const late = setTimeout(() => child.kill('SIGKILL'), startsWithinMs);
  try {
    await untilSays('Coffer is ready');
  } finally {
    clearTimeout(late);
  }
  return {
    s3: `http://${host}:${ports.s3}`,
    console: `http://${host}:${ports.console}`,
    state,
    root: { accessKeyId: rootUser, secretAccessKey: rootPassword },
    lines,
    untilSays,
    async writeIdentityProvider(spec) {
      await writeIdentityProvider(spec);
    },
    async writeClientSecret(value) {
      await writeClientSecret(value);
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The bytes of every file of a folder, and of the folders in it: to look for what must not be there. */
export async function containsAnywhere(folder: string, bytes: Buffer): Promise<string | undefined> {
  const { glob } = await import('node:fs/promises');
  for await (const entry of glob('**/*', { cwd: folder, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    if ((await readFile(path)).includes(bytes)) return path;
  }
  return undefined;
}
