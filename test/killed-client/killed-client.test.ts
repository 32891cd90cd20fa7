import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ListPartsCommand, ListMultipartUploadsCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inFullForm } from '../support/full-form.ts';
import { report } from '../support/report.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { startClient, type ClientProcess } from '../support/server/client-process.ts';
import { runCoffer } from '../support/server/run-coffer.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import type { ServerAccess } from '../support/server/start-server.ts';
import { seed } from '../support/seed.ts';

const MiB = 1_024 * 1_024;
/** `.ci/run` asks for 8, so that each way is killed twice, `.ci/soak client` for 50. */
const kills = Number(process.env['COFFER_CLIENT_KILLS'] ?? 2);
const patience = 180_000 + kills * 60_000;

let folder: string;
let server: ServerAccess;
let s3: S3Client;

function commandLine(args: readonly string[]): { readonly all: string[]; readonly env: Record<string, string> } {
  const host = server.s3.replace('http://', `http://${server.accessKey}:${server.secretKey}@`);
  const env = { COFFER_HOST_s: host, MC_UPLOAD_MULTIPART_SIZE: '5MiB' };
  return { all: ['--config-dir', join(folder, 'config'), '--quiet', ...args], env };
}

/** Starts a command as a process of its own, which can be killed. */
function start(...args: string[]): ClientProcess {
  const { all, env } = commandLine(args);
  return startClient(all, env);
}

async function run(...args: string[]): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const { all, env } = commandLine(args);
  const { code, stdout, stderr } = await runCoffer(all, { env });
  expect(code, `coffer ${args.join(' ')}\n${stderr}`).toBe(0);
  return { stdout: stdout.toString(), stderr };
}

/** The digests of all files below a folder, also of temporary ones. */
async function digests(path: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const full = join(entry.parentPath, entry.name);
    found[full.slice(path.length + 1)] = createHash('sha256')
      .update(await readFile(full))
      .digest('hex');
  }
  return found;
}

async function openUploads(bucket: string): Promise<readonly { Key?: string; UploadId?: string }[]> {
  return (await s3.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads ?? [];
}

async function sessions(): Promise<readonly string[]> {
  return readdir(join(folder, 'config', 'session')).catch(() => []);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-killed-'));
  server = await sharedServer();
  s3 = s3Client(server);
  const random = new SeededRandom(seed);
  const files = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`d${at % 4}/small ${at} é`, at * 700]));
  for (const [name, size] of Object.entries({
    ...files,
    large: inFullForm(12, 11) * MiB,
    'd1/large': inFullForm(11, 6) * MiB,
    'z/last': inFullForm(7, 2) * MiB,
  })) {
    const path = join(folder, 'source', name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, random.bytes(size));
  }
  await run('mb', 's/source');
  await run('cp', '-r', `${join(folder, 'source')}/`, 's/source/');
}, 360_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a command that was killed and begun again', { timeout: patience }, () => {
  const all = [
    ['cp', 'up'],
    ['mirror', 'down'],
    ['mirror', 'up'],
    ['cp', 'down'],
  ] as const;
  const ways = all.slice(0, kills);

  it(`leaves both sides equal and nothing else, after ${kills} kills at random moments`, async () => {
    const random = new SeededRandom(seed);
    const expected = await digests(join(folder, 'source'));
    const durations = new Map<string, number>();
    let midway = 0;
    for (let at = 0; at < kills + ways.length; at += 1) {
      const [command, direction] = ways[at % ways.length] ?? ['cp', 'up'];
      const name = `target-${at}`;
      if (direction === 'up') await run('mb', `s/${name}`);
      const target = direction === 'up' ? `s/${name}/` : `${join(folder, name)}/`;
      const source = direction === 'up' ? `${join(folder, 'source')}/` : 's/source/';
      const args = command === 'cp' ? ['cp', '-r', source, target] : ['mirror', source, target];
      const duration = durations.get(`${command} ${direction}`);
      if (duration !== undefined) {
        const killed = start(...args);
        // The moments before the end are those of interest.
        await sleep(random.between(100, Math.ceil(duration * 0.8)));
        killed.kill('SIGKILL');
        if ((await killed.ended).code === null) midway += 1;
      }
      const started = performance.now();
      if (duration === undefined) expect((await start(...args).ended).code).toBe(0);
      else await run(...args);
      // The first run of each way is not killed: it tells how long one takes.
      durations.set(`${command} ${direction}`, duration ?? performance.now() - started);
      if (direction === 'up') {
        expect([await openUploads(name), await sessions()]).toEqual([[], []]);
        await run('mirror', `s/${name}`, join(folder, name));
        await run('rb', '--force', `s/${name}`);
      }
      expect(await digests(join(folder, name))).toEqual(expected);
      await rm(join(folder, name), { recursive: true });
    }
    report(
      `${kills} kills of cp and mirror, up and down, ${midway} of them before the end: both sides equal, nothing left`,
    );
  });

  it('sends only the parts that the server does not have', async () => {
    await run('mb', 's/parts');
    const parts = inFullForm(8, 6);
    const path = join(folder, 'many');
    await writeFile(path, new SeededRandom(2).bytes(parts * 5 * MiB));
    const killed = start('--limit-upload', '16MiB', 'cp', path, 's/parts/many');
    const stored = async (): Promise<number> => {
      const [upload] = await openUploads('parts');
      if (upload === undefined) return 0;
      const { Parts } = await s3.send(
        new ListPartsCommand({ Bucket: 'parts', Key: 'many', UploadId: upload.UploadId }),
      );
      return Parts?.length ?? 0;
    };
    await expect.poll(stored, { timeout: 90_000, interval: 20 }).toBeGreaterThan(2);
    killed.kill('SIGKILL');
    await killed.ended;
    // The server needs a moment to notice the closed connections.
    await sleep(300);
    const before = await stored();
    // As after a kill while the file of the session is written. No process has this PID.
    const [session] = await sessions();
    await writeFile(join(folder, 'config', 'session', `${session}.99999999`), '{');
    const owner = JSON.stringify({ pid: 99_999_999, host: hostname(), id: '0123456789abcdef' });
    await writeFile(join(folder, 'config', 'session', `${session}.lock.0123456789abcdef`), owner);
    const { stderr } = await run('--debug', 'cp', path, 's/parts/many');
    expect(stderr.match(/> PUT \/parts\/many\?partNumber=/g)).toHaveLength(parts - before);
    await run('cp', 's/parts/many', join(folder, 'many-back'));
    expect(await digestOf(join(folder, 'many-back'))).toBe(await digestOf(path));
    expect([await openUploads('parts'), await sessions()]).toEqual([[], []]);
  });

  it('aborts the upload of a killed command where another file or other metadata take its place', async () => {
    await run('mb', 's/others');
    const path = join(folder, 'other');
    for (const [name, change] of [
      ['file', async () => writeFile(path, new SeededRandom(4).bytes(6 * MiB))],
      ['metadata', async () => undefined],
    ] as const) {
      await writeFile(path, new SeededRandom(3).bytes(inFullForm(20, 12) * MiB));
      const killed = start('--limit-upload', '8MiB', 'cp', path, `s/others/${name}`);
      await expect.poll(async () => openUploads('others'), { timeout: 90_000, interval: 20 }).toHaveLength(1);
      killed.kill('SIGKILL');
      await killed.ended;
      await change();
      await run('cp', '--attr', 'colour=blue', path, `s/others/${name}`);
      expect(await openUploads('others')).toEqual([]);
      await run('cp', `s/others/${name}`, join(folder, 'other-back'));
      expect(await digestOf(join(folder, 'other-back'))).toBe(await digestOf(path));
      expect((await run('--json', 'stat', `s/others/${name}`)).stdout).toContain('"X-Amz-Meta-Colour":"blue"');
    }
  });

  it('ends the upload of a killed command where a smaller file takes its place in one request', async () => {
    await run('mb', 's/smaller');
    const path = join(folder, 'shrinking');
    await writeFile(path, new SeededRandom(7).bytes(inFullForm(20, 12) * MiB));
    const killed = start('--limit-upload', '8MiB', 'cp', path, 's/smaller/key');
    await expect.poll(async () => openUploads('smaller'), { timeout: 90_000, interval: 20 }).toHaveLength(1);
    killed.kill('SIGKILL');
    await killed.ended;
    await writeFile(path, 'small');
    await run('cp', path, 's/smaller/key');
    expect([await openUploads('smaller'), await sessions()]).toEqual([[], []]);
    expect((await run('cat', 's/smaller/key')).stdout).toBe('small');
  });

  it('ends the upload of a killed command where mirror finds the object there', async () => {
    await run('mb', 's/there');
    const source = join(folder, 'sent-by-another');
    await mkdir(source);
    const bytes = new SeededRandom(6).bytes(inFullForm(20, 12) * MiB);
    await writeFile(join(source, 'whole'), bytes);
    const killed = start('--limit-upload', '8MiB', 'mirror', source, 's/there');
    await expect.poll(async () => openUploads('there'), { timeout: 90_000, interval: 20 }).toHaveLength(1);
    killed.kill('SIGKILL');
    await killed.ended;
    // The kill may have come while the session was written, so that there is a temporary file too.
    expect((await sessions()).filter((name) => name.endsWith('.json'))).toHaveLength(1);
    await s3.send(new PutObjectCommand({ Bucket: 'there', Key: 'whole', Body: bytes }));
    await run('mirror', '--dry-run', source, 's/there');
    expect(await openUploads('there')).toHaveLength(1);
    await run('mirror', source, 's/there');
    expect([await openUploads('there'), await sessions()]).toEqual([[], []]);
  });

  it('goes on with a download where it was, also after Ctrl-C', async () => {
    await run('mb', 's/downloads');
    const path = join(folder, 'whole');
    await writeFile(path, new SeededRandom(5).bytes(inFullForm(20, 12) * MiB));
    await run('cp', path, 's/downloads/whole');
    for (const signal of ['SIGKILL', 'SIGINT'] as const) {
      const target = join(folder, `down-${signal}`);
      const killed = start('--limit-download', '8MiB', 'cp', 's/downloads/whole', `${target}/`);
      const arrived = async (): Promise<number> => {
        const [temporary] = await readdir(target).catch(() => []);
        return temporary === undefined ? 0 : (await stat(join(target, temporary))).size;
      };
      await expect.poll(arrived, { timeout: 90_000, interval: 20 }).toBeGreaterThan(3 * MiB);
      killed.kill(signal);
      await killed.ended;
      const { stderr } = await run('--debug', 'cp', 's/downloads/whole', `${target}/`);
      const from = Number(/> range: bytes=(\d+)-/.exec(stderr)?.[1]);
      expect(from).toBeGreaterThan(3 * MiB);
      expect(await readdir(target)).toEqual(['whole']);
      expect(await digestOf(join(target, 'whole'))).toBe(await digestOf(path));
    }
  });
});

async function digestOf(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}
