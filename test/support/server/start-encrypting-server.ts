import { createPrivateKey } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runKeysvc, startKeysvc, type Finished, type KeysvcProcess } from './keysvc-process.ts';
import { freePort } from '../process/free-port.ts';
import { startServer, type RunningServer } from './start-server.ts';

export interface EncryptingServer {
  readonly server: RunningServer;
  readonly keysvc: KeysvcProcess;
  /** Of both servers' certificates, which sign themselves. */
  readonly caFile: string;
  /** The test's own, gone when it stops. */
  readonly folder: string;
  /** At the key service, by its own command. */
  createKey(name: string): Promise<Finished>;
  stop(): Promise<void>;
}

/**
 * A server over TLS with a key service of its own, as `keysvc init` makes one: what clients need for every kind of encryption. The
 * default key is `my-key`. With a password the private key that the server shows the key service is encrypted.
 */
export async function startEncryptingServer({
  password,
}: { readonly password?: string } = {}): Promise<EncryptingServer> {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-encrypting-'));
  const file = (name: string) => join(folder, name);
  const made = await runKeysvc(['init', folder]);
  if (made.code !== 0) throw new Error(made.stderr);
  if (password !== undefined) {
    const key = createPrivateKey(await readFile(file('client.key')));
    const encrypted = key.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: password });
    await writeFile(file('client.key'), encrypted);
  }
  const caFile = file('server.crt');
  // One certificate of 127.0.0.1 serves both.
  await mkdir(file('certs'));
  await copyFile(caFile, join(file('certs'), 'public.crt'));
  await copyFile(file('server.key'), join(file('certs'), 'private.key'));
  const address = `127.0.0.1:${await freePort()}`;
  const keysvc = await startKeysvc(['--config', file('keysvc.yml'), '--auth=off', '--addr', address]);
  const server = await startServer({
    folder: file('data'),
    args: ['--certs-dir', file('certs')],
    env: {
      SVC_KMS_KEYSVC_ENDPOINT: `https://${address}`,
      SVC_KMS_KEYSVC_KEY_FILE: file('client.key'),
      SVC_KMS_KEYSVC_CERT_FILE: file('client.crt'),
      SVC_KMS_KEYSVC_CAPATH: caFile,
      SVC_KMS_KEYSVC_KEY_NAME: 'my-key',
      ...(password === undefined ? {} : { SVC_KMS_KEYSVC_KEY_PASSWORD: password }),
    },
  });
  const ca = await readFile(caFile);
  while (!(await isReady(server.s3, ca))) {
    if (server.ended() !== undefined) throw new Error(server.log.join('\n'));
    await sleep(50);
  }
  return {
    server,
    keysvc,
    caFile,
    folder,
    createKey: (name) =>
      runKeysvc(['key', 'create', name], {
        KEYSVC_SERVER: `https://${address}`,
        KEYSVC_CLIENT_KEY: file('client.key'),
        KEYSVC_CLIENT_CERT: file('client.crt'),
        KEYSVC_CAPATH: caFile,
        ...(password === undefined ? {} : { KEYSVC_KEY_PASSWORD: password }),
      }),
    async stop() {
      await server.stop();
      await keysvc.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function isReady(url: string, ca: Buffer): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const ask = request(`${url}/minio/health/ready`, { ca, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    ask.on('error', reject);
    ask.end();
  });
}
