import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BlobServiceClient, type ContainerClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { freePort } from '../process/free-port.ts';

/** Azurite, the emulator of Azure Blob Storage, with one account. */
export interface Azurite {
  /** The URL of the account. */
  readonly url: string;
  readonly accountName: string;
  readonly accountKey: string;
  container(name: string): ContainerClient;
  stop(): Promise<void>;
  /** Starts it again after a stop, with what it has. */
  start(): Promise<void>;
  remove(): Promise<void>;
}

/** Starts the Azurite that `.ci/install azurite` has installed. */
export async function startAzurite(): Promise<Azurite> {
  const tools = process.env['COFFER_TOOLS'] ?? join(homedir(), '.cache', 'coffer-tools');
  const script = join(tools, 'azurite', 'node_modules', 'azurite', 'dist', 'src', 'blob', 'main.js');
  const folder = await mkdtemp(join(tmpdir(), 'coffer-azurite-'));
  const port = await freePort();
  const accountName = 'coffertest';
  const accountKey = randomBytes(48).toString('base64');
  const url = `http://127.0.0.1:${port}/${accountName}`;
  const service = new BlobServiceClient(url, new StorageSharedKeyCredential(accountName, accountKey));
  let child: ReturnType<typeof spawn> | undefined;
  const azurite: Azurite = {
    url,
    accountName,
    accountKey,
    container: (name) => service.getContainerClient(name),
    async start() {
      const args = ['--silent', '--location', folder, '--blobPort', String(port), '--skipApiVersionCheck'];
      child = spawn(process.execPath, [script, ...args, '--disableTelemetry'], {
        env: { PATH: process.env['PATH'], AZURITE_ACCOUNTS: `${accountName}:${accountKey}` },
        stdio: 'ignore',
      });
      for (let tries = 0; ; tries += 1) {
        const answers = await fetch(url).then(
          () => true,
          () => false,
        );
        if (answers) return;
        if (tries > 600) throw new Error('Azurite does not answer: "bash .ci/install azurite" installs it');
        await sleep(100);
      }
    },
    async stop() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
    async remove() {
      await azurite.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  await azurite.start();
  return azurite;
}
