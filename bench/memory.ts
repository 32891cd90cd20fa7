// `npm run bench:memory [-- --size 5GiB]` measures the peak of resident memory of server and client while one large object is uploaded to
// an encrypted bucket and downloaded, by a single PUT and by multipart. It fails when either exceeds the limit, or when the object has
// changed. With `--slow-clients 256` it measures the memory of a server while this many clients read an object slowly, plain and encrypted.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { allocatorEnvironment } from '../bin/allocator.js';
import { parseSize } from '../platform/settings/parse-value.ts';
import { CreateBucketCommand, PutBucketPolicyCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { s3Client } from '../test/support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../test/support/server/start-server.ts';
import { startTenant, type RunningTenant } from '../test/support/server/start-tenant.ts';

const MiB = 2 ** 20;
const limit = 300 * MiB;
const client = fileURLToPath(new URL('../cli/main.ts', import.meta.url));
const { values } = parseArgs({
  options: { size: { type: 'string', default: '5GiB' }, 'slow-clients': { type: 'string' } },
});
const size = parseSize(values.size, false);
const bytes = size.kind === 'bytes' ? size.bytes : 0;

/**
 * Returns VmHWM of a process: its highest resident memory in bytes. 0 if it has ended.
 *
 * @see proc_pid_status(5)
 */
async function peak(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}

async function serverPid(state: string): Promise<number> {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const command = await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '');
    if (command.includes('server/main.ts') && command.includes(state)) return Number(entry);
  }
  throw new Error('the server process is not there');
}

async function writeRandomFile(path: string): Promise<void> {
  const file = await open(path, 'w');
  // Each MiB differs, and does not compress.
  const block = Buffer.alloc(MiB);
  crypto.getRandomValues(block.subarray(0, 65_536));
  for (let at = 65_536; at < MiB; at += 65_536)
    createHash('sha512').update(block.subarray(0, at)).digest().copy(block, at);
  for (let done = 0; done < bytes; done += MiB) {
    block.writeBigUInt64LE(BigInt(done), 0);
    await file.write(block.subarray(0, Math.min(MiB, bytes - done)));
  }
  await file.close();
}

async function digest(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: MiB })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Runs `coffer` to its end and returns the peak of its resident memory. */
async function coffer(config: string, ...args: string[]): Promise<{ readonly peak: number; readonly seconds: number }> {
  const started = performance.now();
  const child = spawn(process.execPath, [client, '--config-dir', config, '--quiet', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...allocatorEnvironment, ...process.env },
  });
  let highest = 0;
  const look = async () => {
    highest = Math.max(highest, await peak(child.pid ?? 0));
  };
  const timer = setInterval(() => void look(), 20);
  const code = await new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  clearInterval(timer);
  if (code !== 0) throw new Error(`coffer ${args.join(' ')} exited with ${code}`);
  return { peak: highest, seconds: (performance.now() - started) / 1000 };
}

function row(...cells: string[]): void {
  process.stdout.write(`| ${cells.map((cell, at) => cell.padEnd(at === 0 ? 28 : 12)).join(' | ')} |\n`);
}

function shown(value: number): string {
  return `${(value / MiB).toFixed(0)} MiB`;
}

async function measure(tenant: RunningTenant, folder: string): Promise<boolean> {
  const server = await serverPid(tenant.state);
  const config = join(folder, 'config');
  const [source, back] = [join(folder, 'source'), join(folder, 'back')];
  await writeRandomFile(source);
  const expected = await digest(source);
  await coffer(config, 'alias', 'set', 'bench', tenant.s3, tenant.root.accessKeyId, tenant.root.secretAccessKey);
  await coffer(config, 'mb', 'bench/large');
  await coffer(config, 'encrypt', 'set', 'sse-kms', 'tenant-key', 'bench/large');
  let good = true;
  process.stdout.write(
    `${values.size}, SSE-KMS; at rest ${shown(await peak(server))}; peak resident memory, limit ${shown(limit)}\n\n`,
  );
  row('', 'client', 'server', 'MiB/s');
  row('---', '---', '---', '---');
  const moves: readonly (readonly [string, ...string[]])[] = [
    ['in, single PUT', 'cp', '--disable-multipart', source, 'bench/large/single'],
    ['out, of a single PUT', 'cp', 'bench/large/single', back],
    ['in, multipart', 'cp', source, 'bench/large/multi'],
    ['out, of a multipart upload', 'cp', 'bench/large/multi', back],
  ];
  for (const [name, ...args] of moves) {
    const moved = await coffer(config, ...args);
    const serverPeak = await peak(server);
    row(name, shown(moved.peak), shown(serverPeak), (bytes / MiB / moved.seconds).toFixed(0));
    good &&= moved.peak < limit && serverPeak < limit && serverPeak > 0;
    if (args.at(-1) !== back) continue;
    if ((await digest(back)) !== expected) throw new Error(`${name}: the object came back changed`);
    await rm(back);
  }
  return good;
}

/** Returns the resident memory without the pages of files, in bytes. */
async function anonymousMemory(server: RunningServer): Promise<number> {
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}

/** Returns the maximum over this many seconds. */
async function highestMemory(server: RunningServer, seconds: number): Promise<number> {
  let highest = 0;
  for (const until = performance.now() + seconds * 1_000; performance.now() < until; await sleep(100)) {
    highest = Math.max(highest, await anonymousMemory(server));
  }
  return highest;
}

/** Connections that send a request and read nothing of the answer until they are resumed. */
async function openConnections(server: RunningServer, count: number, path: string): Promise<Socket[]> {
  const { hostname, port } = new URL(server.s3);
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.on('error', () => undefined);
      await new Promise((resolve) => socket.once('connect', resolve));
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
      return socket;
    }),
  );
}

/** Each connection reads once a second, at most 64 KiB. */
async function takeSlowly(sockets: readonly Socket[], seconds: number): Promise<number> {
  let taken = 0;
  for (const socket of sockets) {
    socket.on('data', (bytes: Buffer) => {
      taken += bytes.length;
      socket.pause();
    });
  }
  for (const until = performance.now() + seconds * 1_000; performance.now() < until; await sleep(1_000)) {
    for (const socket of sockets) socket.resume();
  }
  return taken;
}

async function closed(sockets: readonly Socket[]): Promise<void> {
  for (const socket of sockets) socket.destroy();
  await sleep(3_000);
}

/** The objects are public, so that clients need no signature. */
async function prepareObjects(server: RunningServer): Promise<void> {
  await untilReady(server);
  const s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket: 'public' }));
  const statement = { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::public/*' };
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
  await s3.send(new PutBucketPolicyCommand({ Bucket: 'public', Policy }));
  const Body = Buffer.alloc(64 * MiB, 'body');
  await s3.send(new PutObjectCommand({ Bucket: 'public', Key: 'plain', Body }));
  await s3.send(new PutObjectCommand({ Bucket: 'public', Key: 'SSE-S3', Body, ServerSideEncryption: 'AES256' }));
  await s3.send(new PutObjectCommand({ Bucket: 'public', Key: 'small', Body: 'small' }));
  s3.destroy();
}

/** Each load gets its own server: garbage of an earlier load would hide the memory of the next one. */
async function measureSlowClients(server: RunningServer, count: number, name: string): Promise<void> {
  await prepareObjects(server);
  const path = `/public/${name}`;
  const warming = await openConnections(server, 8, path);
  for (const socket of warming) socket.resume();
  await closed(warming);
  await sleep(2_000);
  const rest = await highestMemory(server, 2);
  const idle = await openConnections(server, count, '/public/small');
  await sleep(1_000);
  const connected = await highestMemory(server, 3);
  await closed(idle);
  const sockets = await openConnections(server, count, path);
  await sleep(2_000);
  const waiting = await highestMemory(server, 5);
  const [slow, taken] = await Promise.all([highestMemory(server, 20), takeSlowly(sockets, 20)]);
  if (taken < (count * MiB) / 4) throw new Error(`the clients got ${shown(taken)} only`);
  await closed(sockets);
  const more = Math.max(waiting, slow) - connected;
  row(name, ...[rest, connected, waiting, slow, await anonymousMemory(server), more].map(shown));
}

const slowClients = values['slow-clients'];
if (slowClients !== undefined) {
  const key = `bench:${Buffer.alloc(32, 1).toString('base64')}`;
  const env = { ...allocatorEnvironment, SVC_THREADS: '2', SVC_KMS_SECRET_KEY: key };
  process.stdout.write(`${slowClients} clients, 2 threads; resident memory without files\n\n`);
  row('', 'at rest', 'connected', 'waiting', 'at 64 KiB/s', 'afterwards', 'for bodies');
  row('---', '---', '---', '---', '---', '---', '---');
  for (const name of ['plain', 'SSE-S3']) {
    const server = await startServer({ env });
    try {
      await measureSlowClients(server, Number(slowClients), name);
    } finally {
      await server.stop();
    }
  }
} else {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-bench-'));
  const tenant = await startTenant();
  try {
    const good = await measure(tenant, folder);
    process.stdout.write(good ? '\nwithin the limit\n' : '\nOVER THE LIMIT\n');
    process.exitCode = good ? 0 : 1;
  } finally {
    await tenant.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
