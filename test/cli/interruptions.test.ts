import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ListMultipartUploadsCommand, ListObjectsV2Command, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programArguments, programEnvironment } from '../support/process/program.ts';
import { runCoffer } from '../support/server/run-coffer.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { sharedServer, type SharedAccess } from '../support/server/shared-server.ts';

const bucket = 'interruptions';
let folder: string;
let server: SharedAccess;
let s3: S3Client;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-interruptions-'));
  server = await sharedServer();
  s3 = s3Client(server);
  await runCoffer(['mb', `s/${bucket}`], { env: environment() });
  await s3.send(new PutObjectCommand({ Bucket: bucket, Key: 'old', Body: 'old' }));
  await s3.send(new PutObjectCommand({ Bucket: bucket, Key: 'large', Body: Buffer.alloc(4 * mebibyte) }));
});

afterAll(() => rm(folder, { recursive: true }));

const mebibyte = 1_024 * 1_024;

function environment(): Record<string, string> {
  const host = server.s3.replace('http://', `http://${server.accessKey}:${server.secretKey}@`);
  return { COFFER_HOST_s: host, COFFER_CONFIG_DIR: join(folder, 'config') };
}

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

/** Starts a client that gets some input and no end of it, and sends it a single signal when it is ready. Nobody reads its output. */
async function interrupt(
  args: readonly string[],
  signal: NodeJS.Signals,
  { input = Buffer.alloc(0), isReady = async () => sleep(1_500) }: Interrupted = {},
): Promise<Ended> {
  const main = programArguments(new URL('../../cli/main.ts', import.meta.url));
  const env = { PATH: process.env['PATH'] ?? '', ...programEnvironment, ...environment() };
  const child = spawn(process.execPath, [...main, ...args], { env, stdio: 'pipe' });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.on('error', () => undefined).write(input);
  await isReady();
  child.kill(signal);
  return new Promise((resolve) => {
    child.on('exit', (code, by) => resolve({ code, signal: by, stderr }));
  });
}

interface Interrupted {
  readonly input?: Buffer;
  readonly isReady?: () => Promise<unknown>;
}

async function keys(): Promise<readonly (string | undefined)[]> {
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: bucket }));
  return Contents.map(({ Key }) => Key);
}

async function uploads(): Promise<number> {
  return (await s3.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads?.length ?? 0;
}

/** The exit codes of a shell. A client that ends by the signal itself has the same there. */
const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

function isEndedBy({ code, signal }: Ended, sent: keyof typeof codes): boolean {
  return code === codes[sent] || signal === sent;
}

describe('one signal', { timeout: 180_000 }, () => {
  it('ends each command that waits for its input, or for the reader of its output', async () => {
    const [fifo, other] = [join(folder, 'fifo'), join(folder, 'other')];
    expect(spawnSync('mkfifo', [fifo, other]).status).toBe(0);
    const commands: readonly (readonly [string, keyof typeof codes, Buffer?])[] = [
      [`pipe s/${bucket}/new`, 'SIGTERM'],
      [`pipe s/${bucket}/new`, 'SIGINT'],
      [`pipe s/${bucket}/new`, 'SIGHUP'],
      ['pipe', 'SIGTERM'],
      [`cp /dev/stdin s/${bucket}/new`, 'SIGTERM'],
      [`cp ${fifo} s/${bucket}/new`, 'SIGTERM'],
      [`cat ${fifo}`, 'SIGTERM'],
      ['cat -', 'SIGTERM'],
      ['head', 'SIGTERM'],
      ['rm --stdin --force', 'SIGTERM', Buffer.from(`s/${bucket}/old`)],
      [`alias set mine ${server.s3}`, 'SIGTERM'],
      ['alias import mine', 'SIGTERM'],
      ['admin policy create s mine -', 'SIGTERM'],
      [`cat s/${bucket}/large`, 'SIGTERM'],
      [`cp s/${bucket}/large /dev/stdout`, 'SIGTERM'],
      [`cp s/${bucket}/large ${other}`, 'SIGTERM'],
    ];
    const ended = await Promise.all(
      commands.map(async ([line, signal, input]) => {
        const end = await interrupt(line.split(' '), signal, { ...(input && { input }) });
        return isEndedBy(end, signal) ? undefined : `${line}: ${signal} ${JSON.stringify(end)}`;
      }),
    );
    expect(ended.filter((one) => one !== undefined)).toEqual([]);
    expect(await keys()).toEqual(['large', 'old']);
    expect(await readdir(folder)).toEqual(['fifo', 'other']);
  });

  it('ends a pipe in the middle of an upload in parts, which is aborted, and keeps the old object', async () => {
    const input = Buffer.alloc(12 * mebibyte);
    const isReady = async () => expect.poll(uploads, { timeout: 60_000, interval: 50 }).toBe(1);
    const args = ['pipe', '--part-size', '5MiB', `s/${bucket}/old`];
    const end = await interrupt(args, 'SIGTERM', { input, isReady });
    expect(isEndedBy(end, 'SIGTERM'), JSON.stringify(end)).toBe(true);
    expect(await uploads()).toBe(0);
    expect((await runCoffer(['cat', `s/${bucket}/old`], { env: environment() })).stdout.toString()).toBe('old');
  });
});
