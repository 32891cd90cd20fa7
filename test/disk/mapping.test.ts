import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientOf } from '../crash/s3-client.ts';
import { programArguments, programEnvironment } from '../support/process/program.ts';
import { type CommandResult, runCommand } from '../support/process/run-command.ts';
import { startServer, untilReady } from '../support/server/start-server.ts';
import { makeVolume, volumeIssue } from './volumes.ts';

const Bucket = 'bucket';
const tool = programArguments(new URL('../../server/store-tool/main.ts', import.meta.url));

let folder: string;
/** A data folder with an object of each size, and a snapshot of it, in one folder. */
let stores: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-mapping-'));
  stores = join(folder, 'stores');
  const server = await startServer({ folder: join(stores, 'data'), env: { SVC_THREADS: '1' } });
  await untilReady(server);
  await clientOf(server).send(new CreateBucketCommand({ Bucket }));
  for (const [Key, bytes] of Object.entries({ record: 1_000, segment: 300_000, file: 5_000_000 })) {
    await clientOf(server).send(new PutObjectCommand({ Bucket, Key, Body: randomBytes(bytes) }));
  }
  await server.stop();
  expect(await run(['snapshot', join(stores, 'data'), join(stores, 'snapshot')])).toMatchObject({ code: 0 });
}, 180_000);
afterAll(() => rm(folder, { recursive: true }));

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CommandResult> {
  return runCommand(process.execPath, [...tool, ...args], {
    env: { ...programEnvironment, ...env },
    timeoutMs: 120_000,
  });
}

/** Shows the stores where no file can be mapped into memory. Returns the program that does it, or why the machine cannot. */
async function mountUnmapped(at: string): Promise<ChildProcess | string> {
  const program = join(folder, 'unmapped-volume');
  const source = fileURLToPath(new URL('unmapped-volume.c', import.meta.url));
  execFileSync('cc', ['-O2', '-Wall', '-o', program, source], { stdio: 'inherit' });
  await mkdir(at);
  const child = spawn(program, [stores, at], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [said] = await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data')]);
  return String(said).startsWith('mounted') ? child : `no FUSE can be mounted here: ${String(said).trim()}`;
}

describe('stores on a file system that maps no files', { timeout: 360_000 }, () => {
  it('are verified, copied and restored from there', async ({ skip }) => {
    const mounted = join(folder, 'unmapped');
    const child = await mountUnmapped(mounted);
    if (typeof child === 'string') return skip(child);
    try {
      const [data, snapshot] = [join(mounted, 'data'), join(mounted, 'snapshot')];
      for (const args of [
        ['verify', data],
        ['verify', snapshot],
        ['snapshot', data, join(folder, 'of-it')],
        ['copy', data, join(folder, 'copied')],
        ['restore', snapshot, join(folder, 'restored')],
      ]) {
        expect(await run(args), args.join(' ')).toMatchObject({ code: 0 });
      }
      for (const made of ['of-it', 'copied', 'restored']) {
        const { code, stdout } = await run(['verify', join(folder, made)]);
        expect({ code, stdout }, made).toEqual({ code: 0, stdout: expect.stringMatching(/3 objects/) as unknown });
      }
      const refused = await run(['verify', data], { TMPDIR: mounted });
      expect(refused.code).toBe(1);
      expect(refused.stderr).toMatch(/Set TMPDIR to a folder with room/);
    } finally {
      execFileSync('umount', [mounted]);
      child.kill();
    }
  });
});

const tmpfsIssue = await volumeIssue('tmpfs');

/** Fills a volume, after something was prepared on it, and calls `work` with its path. */
async function withFullVolume(work: (path: string) => Promise<void>, prepare?: (path: string) => Promise<void>) {
  const own = await mkdtemp(join(folder, 'full-'));
  const volume = await makeVolume('tmpfs', own);
  try {
    await prepare?.(volume.path);
    const zeros = Readable.from(
      (function* () {
        for (;;) yield Buffer.alloc(65_536);
      })(),
    );
    await pipeline(zeros, createWriteStream(join(volume.path, 'filled'))).catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'ENOSPC' });
    });
    await work(volume.path);
  } finally {
    await volume.remove();
  }
}

describe.skipIf(tmpfsIssue !== undefined)('a full file system, on which a page that is mapped gets no block', () => {
  it('is named where tools have their temporary files', { timeout: 360_000 }, () =>
    withFullVolume(async (TMPDIR) => {
      const { code, stderr } = await run(['verify', join(stores, 'data')], { TMPDIR });
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(/no space is left.*Set TMPDIR to a folder with room/s) as unknown,
      });
    }),
  );

  it('is named by a start that has no lock file of the records', { timeout: 360_000 }, () =>
    withFullVolume(
      async (path) => {
        await expect(startServer({ folder: join(path, 'data'), env: { SVC_THREADS: '1' } })).rejects.toThrow(
          /exited with 1 .*the lock file \S+lock\.mdb cannot be prepared: no space is left.*make room/s,
        );
      },
      async (path) => {
        await cp(join(stores, 'data'), join(path, 'data'), { recursive: true });
        await rm(join(path, 'data', 'records', 'lock.mdb'), { force: true });
      },
    ),
  );
});
