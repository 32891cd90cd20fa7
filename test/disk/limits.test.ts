import { CreateBucketCommand, DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clientOf } from '../crash/s3-client.ts';
import { verifyFolder } from '../crash/verify-folder.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { type ControlGroup, controlGroupIssue, makeControlGroup } from './control-group.ts';

const Bucket = 'bucket';
const MEBIBYTE = 1024 * 1024;
const groupIssue = controlGroupIssue();
/** Of an error that passes by itself, of a full store, and of a server that has too much to do. */
const known = new Set([200, 503, 507]);

let folder: string;
let server: RunningServer | undefined;
let group: ControlGroup | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-limits-'));
});
afterEach(async () => {
  await server?.kill();
  await group?.remove();
  group = undefined;
  await rm(folder, { recursive: true });
});

async function started(limits?: Parameters<typeof makeControlGroup>[0]): Promise<RunningServer> {
  group = limits && makeControlGroup(limits);
  const made = await startServer({
    folder: join(folder, 'data'),
    // Without the check of places, whose modules are loaded at the first commit of a thread: there may be no descriptor for them.
    env: { SVC_THREADS: '2', NODE_OPTIONS: '' },
    onSpawned: (child) => group?.add(child.pid ?? 0),
  });
  server = made;
  await untilReady(made, 120_000);
  await clientOf(made).send(new CreateBucketCommand({ Bucket }));
  return made;
}

interface Sent {
  readonly body: Buffer;
  readonly status: number;
}

/** Puts objects of these sizes at once. Returns what was answered: 0 for a connection that ended before an answer. */
async function putAll(target: RunningServer, sizes: readonly number[]): Promise<ReadonlyMap<string, Sent>> {
  const s3 = clientOf(target);
  const sent = await Promise.all(
    sizes.map(async (size, index) => {
      const body = randomBytes(size);
      const Key = `key-${index}`;
      const status = await s3.send(new PutObjectCommand({ Bucket, Key, Body: body })).then(
        ({ $metadata }) => $metadata.httpStatusCode ?? 0,
        (error: unknown) => (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode ?? 0,
      );
      return [Key, { body, status }] as const;
    }),
  );
  return new Map(sent);
}

/** What was answered 200 is there, and nothing else was answered than the table allows. */
async function expectKept(target: RunningServer, sent: ReadonlyMap<string, Sent>, mayBeCut = false): Promise<void> {
  expect(target.ended()).toBeUndefined();
  const s3 = clientOf(target);
  for (const [Key, { body, status }] of sent) {
    expect(known.has(status) || (mayBeCut && status === 0) ? 'known' : `${Key}: ${status}`).toBe('known');
    if (status !== 200) continue;
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
    expect(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(body)).toBe(true);
  }
}

async function expectSound(target: RunningServer): Promise<void> {
  await target.stop();
  expect((await verifyFolder(join(folder, 'data'))).complaints).toEqual([]);
}

const limit = ({ pid }: RunningServer, ...limits: readonly string[]) =>
  execFileSync('prlimit', ['--pid', String(pid), ...limits]);
const openFiles = ({ pid }: RunningServer) => readdirSync(`/proc/${pid}/fd`).length;

const sizes = Array.from({ length: 60 }, (_, index) => [1_000, 200_000, 1_500_000, 9_000_000][index % 4] ?? 0);

describe('a server with limits of its process', { timeout: 720_000 }, () => {
  it('that has few descriptors refuses what it has none for, and serves again when others end', async () => {
    const target = await started();
    limit(target, `--nofile=${openFiles(target) + 12}:4096`);
    // A connection for which there is no descriptor is closed by libuv before the server sees it.
    const sent = await putAll(target, sizes);
    limit(target, '--nofile=4096:4096');
    await expectKept(target, sent, true);
    await expectKept(target, await putAll(target, sizes.slice(0, 8)));
    await expectSound(target);
  });

  it('that may write files of 4 MiB has no room for larger ones, and serves the others', async () => {
    const target = await started();
    limit(target, `--fsize=${4 * MEBIBYTE}:${4 * MEBIBYTE}`);
    const sent = await putAll(target, [1_000, 9_000_000, 200_000, 9_000_000]);
    await expectKept(target, sent);
    expect([...sent.values()].map(({ status }) => status).filter((status) => status === 507).length).toBeGreaterThan(0);
  });
});

describe.skipIf(groupIssue !== undefined)(
  `a server in a control group${groupIssue === undefined ? '' : `: ${groupIssue}`}`,
  { timeout: 400_000 },
  () => {
    it('of 512 MiB takes 60 uploads at once, and the kernel ends nothing', async () => {
      const target = await started({ memoryBytes: 512 * MEBIBYTE });
      for (let round = 0; round < 3; round += 1) await expectKept(target, await putAll(target, sizes));
      expect(group?.outOfMemory()).toBe(0);
      await expectSound(target);
    });

    it('of 0.2 processors answers each request', async () => {
      const target = await started({ processors: 0.2 });
      await expectKept(target, await putAll(target, sizes.slice(0, 16)));
      for (let index = 0; index < 16; index += 1) {
        await clientOf(target).send(new DeleteObjectCommand({ Bucket, Key: `key-${index}` }));
      }
      await expectSound(target);
    });

    it('of a few more processes than it has goes on, and starts the thread of the hashes later', async () => {
      const target = await started({ processes: 4096 });
      const threads = readdirSync(`/proc/${target.pid}/task`).length;
      await group?.remove();
      const narrow = makeControlGroup({ processes: threads });
      group = narrow;
      narrow.add(target.pid);
      await expectKept(target, await putAll(target, sizes.slice(0, 12)));
      await expectSound(target);
    });
  },
);

const program = `
  import { Worker, isMainThread } from 'node:worker_threads';
  const { endAtOnce } = await import(process.argv[2]);
  if (isMainThread && process.argv[3] === 'a thread') {
    const worker = new Worker(process.argv[1], { argv: [process.argv[2], 'main'] });
    // As the server does when a thread ends.
    worker.on('exit', () => endAtOnce());
  } else endAtOnce();
  setTimeout(() => console.log('it goes on'), 2000);
`;

describe('the first process of a container', () => {
  it.each(['the main thread', 'a thread'])('ends at once from %s, although it cannot send itself SIGKILL', (thread) => {
    const file = join(folder, 'program.mjs');
    writeFileSync(file, program);
    const module = new URL('../../platform/process/shutdown.ts', import.meta.url).href;
    const args = ['--pid', '--fork', '--mount-proc', process.execPath, file, module, thread];
    const { stdout, status, signal } = spawnSync('unshare', args, { encoding: 'utf8' });
    expect(stdout).not.toContain('it goes on');
    expect(signal ?? status).not.toBe(0);
  });
});
