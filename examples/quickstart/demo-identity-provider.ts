import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { IdentityProvider } from '../../operator/api/object.ts';
import { ChildLog, compileCache, endLeftover } from '../../operator/runtime/local/child-process.ts';
import type { StateFolder } from '../../operator/runtime/local/state-folder.ts';
import { Supervisor } from '../../operator/runtime/local/supervisor.ts';
import { createLimitedFetch } from '../../platform/http/limited-fetch.ts';
import type { DemoUser } from '../demo-identity-provider/login.ts';

/** The demonstration provider as it runs beside the operator: it is no part of what the manifests describe. */
export interface RunningDemo {
  readonly users: readonly DemoUser[];
  readonly issuer: string;
  stop(): Promise<void>;
}

const script = fileURLToPath(new URL('../demo-identity-provider/main.ts', import.meta.url));
const readyWithinMs = 20_000;

/** The Secret of the client, made once. A manifest of the same name wins over it. */
export function demoClientSecret(state: StateFolder, { spec }: IdentityProvider): Promise<string> {
  const { name, key } = spec.clientSecretRef;
  return state.madeOnce(() => randomBytes(24).toString('hex'), 'secrets', name, key);
}

/** Where the provider of a manifest would be served by the demonstration; undefined when it is someone else's. */
export function demoAddress({
  spec,
}: IdentityProvider): { address: string; realm: string; issuer: string } | undefined {
  const url = URL.parse(spec.configUrl);
  const realm = /^\/realms\/([\w-]+)\/\.well-known\/openid-configuration$/.exec(url?.pathname ?? '')?.[1];
  if (url === null || realm === undefined || url.protocol !== 'http:' || url.hostname !== '127.0.0.1') return undefined;
  return { address: `127.0.0.1:${url.port || '80'}`, realm, issuer: `${url.origin}/realms/${realm}` };
}

/** Tells the demonstration the client's secret, now and when it is rotated. */
export function tellClientSecret(state: StateFolder, clientSecret: string): string {
  const path = join(state.folder('demo-identity-provider'), 'client-secret');
  writeFileSync(path, `${clientSecret}\n`, { mode: 0o600 });
  return path;
}

/** Starts the provider at the address of the manifest and waits until it answers. Errors with what it said last when it does not. */
export async function startDemo(
  state: StateFolder,
  provider: IdentityProvider,
  clientSecret: string,
  warn: (line: string) => void,
): Promise<RunningDemo | undefined> {
  const where = demoAddress(provider);
  if (where === undefined) return undefined;
  const folder = state.folder('demo-identity-provider');
  const usersFile = join(folder, 'users.json');
  const secretFile = tellClientSecret(state, clientSecret);
  const pidFile = join(folder, 'process');
  await endLeftover(pidFile);
  const log = new ChildLog(join(state.folder('logs'), 'demo-identity-provider.log'), warn, false);
  const fetch = createLimitedFetch({ timeoutMs: 2_000 });
  const started = Promise.withResolvers<void>();
  const supervisor = new Supervisor({
    command: {
      script,
      arguments: [
        `--address=${where.address}`,
        `--realm=${where.realm}`,
        `--client-id=${provider.spec.clientId}`,
        `--client-secret-file=${secretFile}`,
        `--users=${usersFile}`,
        `--keys=${join(folder, 'keys.json')}`,
      ],
      environment: { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: compileCache },
    },
    log,
    pidFile,
    ready: async () => {
      try {
        const response = await fetch(provider.spec.configUrl);
        return response.ok ? { ok: true } : { ok: false, message: `answered ${response.status}` };
      } catch (error) {
        return { ok: false, message: error instanceof Error ? error.message : String(error) };
      }
    },
    changed: () => {
      if (supervisor.state.kind === 'ready') started.resolve();
    },
    crashed: (message) => {
      started.reject(new Error(`the demonstration identity provider ended: ${message}`));
      warn(message);
    },
    random: Math.random,
  });
  const timer = setTimeout(
    () => started.reject(new Error('the demonstration identity provider does not answer')),
    readyWithinMs,
  );
  try {
    await started.promise;
  } catch (error) {
    await supervisor.stop();
    throw error;
  } finally {
    clearTimeout(timer);
  }
  const users = JSON.parse(await readFile(usersFile, 'utf8')) as readonly DemoUser[];
  return { users, issuer: where.issuer, stop: () => supervisor.stop() };
}
