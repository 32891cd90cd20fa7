import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCoffer } from '../support/server/run-coffer.ts';
import { programArguments, programEnvironment } from '../support/process/program.ts';
import { runCommand } from '../support/process/run-command.ts';

const launcher = fileURLToPath(new URL('../../bin/coffer.js', import.meta.url));
const source = new URL('../../cli/main.ts', import.meta.url);

let folder: string;
const servers: Server[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-line-'));
});

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  await rm(folder, { recursive: true, force: true });
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

function noSuchBucket(response: ServerResponse): void {
  response.writeHead(404).end('<Error><Code>NoSuchBucket</Code><Message>None.</Message></Error>');
}

function inProcess(...args: string[]) {
  return runCoffer(['--config-dir', folder, ...args]);
}

describe('what is wrong on the command line', () => {
  it.each([
    [['nope'], "Unknown command 'nope'"],
    [['admin', 'nope'], "Unknown command 'nope'"],
    [['idp', 'openid', 'list'], "Missing required argument 'alias'"],
    [['admin', 'user', 'list', 'local/bucket'], 'name a server, without a bucket'],
    [['ls', '--nope', 'x'], "Unknown option '--nope'"],
    [['cp', 'a'], 'at least one source and a target'],
    [['cat', '--offset', 'x', '/dev/null'], 'Invalid --offset'],
    [['cat', '--offset', '1', '--tail', '1', 'a'], 'either --offset or --tail'],
    [['head', '--lines', 'x', 'a'], 'Invalid --lines'],
    [['ls', '--versions', '.'], 'files have no versions'],
    [['ls', '--rewind', 'soon', '.'], 'Invalid --rewind'],
    [['rm', '-r', '.'], 'needs --force'],
    [['rm', '--versions', './x'], 'needs --force'],
    [['rm', '--force', '--versions', './absent'], 'files have no versions or uploads'],
    [['rm', '--version-id', 'a', './absent'], 'files have no versions or uploads'],
    [['rm', '-r', '--force', '--rewind', '1d', './absent'], 'files have no versions or uploads'],
    [['rm', '--incomplete', './absent'], 'files have no versions or uploads'],
    [['rm', '--bypass', './absent'], 'files have no versions or uploads'],
    [['rm'], 'Name what to remove'],
    [['mv', 'a'], 'at least one source and a target'],
    [['cp', '--max-workers', '0', 'a', 'b'], 'Invalid --max-workers'],
    [['cp', '--legal-hold', 'x', 'a', 'b'], 'Invalid --legal-hold'],
    [['cp', '--retention-mode', 'governance', 'a', 'b'], 'need each other'],
    [['find', '.', '--regex', '('], 'Invalid --regex'],
    [['find', '.', '--exec', '"a'], 'Invalid --exec'],
    [['find', '.', '--tags', 'a=b'], 'Files have no tags'],
    [['du', '--depth', 'x', '.'], 'Invalid --depth'],
    [['tree', '--depth', '0', '.'], 'Invalid --depth'],
    [['od', 'if=a'], 'if= and of= are needed'],
    [['od', 'x=a'], 'Invalid operand'],
    [['od', 'if=a', 'of=b'], 'One of if= and of='],
    [['get', 'a', 'b'], 'No such alias'],
    [['put', 'a', 'b'], 'is not on a server'],
    [['share', 'download', 'local/bucket/k'], 'has no keys'],
    [['undo', '--last', '0', 'local/b/k'], 'Invalid --last'],
    [['ls'], "Missing required argument 'targets'"],
    [['ls', 'x/y'], '`x` is no alias'],
    [['ls', 'lcoal/y'], 'did you mean `local/y`?'],
    [['tag', 'list', 'lcoal/y'], 'did you mean `local`?'],
    [['help', 'polcies'], 'did you mean `policies`?'],
    [['nosuch', '--help'], 'Unknown command `nosuch`; see `coffer --help`'],
    [['-h', 'mirrro'], 'did you mean `mirror`?'],
    [['admin', 'usr', '--help'], 'Unknown command `usr` (did you mean `user`?); see `coffer admin --help`'],
    [['-C', 'folder', 'admin', 'user', 'nosuch', '-h'], 'Unknown command `nosuch`; see `coffer admin user --help`'],
    [['tag', 'list', 'x/y'], 'No such alias `x`'],
    [['mb', 'local'], 'name a bucket'],
    [['encrypt', 'set', 'sse-x', 'local/bucket'], 'it is sse-s3 or sse-kms'],
    [['alias', 'set', '1', 'http://h', 'abc', 'abcdefgh'], 'begins with a letter'],
    [['ready', 'local', '--wait', 'x'], 'number of seconds'],
    [['ilm', 'rule', 'list', '--expiry', '--transition', 'local/bucket'], 'not both'],
    [['sql', '--csv-input', 'rd=,', '--json-input', 'type=lines', 'local/bucket/k'], 'not both'],
    [['sql', '--csv-output', 'rd=,', '--json-output', 'rd=,', 'local/bucket/k'], 'not both'],
    [['ping', 'local', '-c', '0'], 'number above 0'],
  ])('%j is said on one line, with exit code 1', async (args, message) => {
    const { code, stdout, stderr } = await inProcess(...args);
    expect([code, stdout.length, stderr]).toEqual([1, 0, expect.stringMatching(/^coffer: <ERROR> .*\.\n$/)]);
    expect(stderr).toContain(message);
  });

  it.each(['--json', '--JSON'])('is one line of JSON with %s', async (flag) => {
    const { code, stdout, stderr } = await inProcess(flag, 'nope');
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout.toString()).toMatch(/^[^\n]*\n$/);
    expect(JSON.parse(stdout.toString())).toMatchObject({ status: 'error', error: { type: 'fatal' } });
  });
});

describe('-v', () => {
  it('is the version of the program, and a flag of a command', async () => {
    expect((await inProcess('-v')).stdout.toString()).toMatch(/^coffer \d/);
    const { code, stdout, stderr } = await inProcess('stat', '-v', 'nowhere/nothing');
    expect([code, stdout.length, stderr]).toEqual([1, 0, expect.stringContaining('Unable to read `nowhere/nothing`')]);
  });
});

describe('old names', () => {
  it('of flags work with a hint', async () => {
    await mkdir(join(folder, 'from'));
    await writeFile(join(folder, 'from', 'file'), '');
    const { code, stdout, stderr } = await inProcess('mirror', '--fake', join(folder, 'from'), join(folder, 'absent'));
    expect([code, stderr]).toEqual([0, expect.stringContaining('`--fake` is an old name of `--dry-run`')]);
    expect(stdout.toString()).toContain('Would copy');
  });

  it('of commands work with a hint, which --quiet leaves out', async () => {
    const list = ['--config-dir', join(folder, 'none'), 'config', 'host', 'list'];
    const { code, stdout, stderr } = await inProcess(...list);
    expect([code, stderr]).toEqual([0, 'coffer: <WARNING> `config host list` is an old name of `alias list`.\n']);
    expect(stdout.toString()).toContain('http://localhost:9000');
    expect((await inProcess('--quiet', ...list)).stderr).toBe('');
  });

  it('of commands that there are not are refused with the reason', async () => {
    const { code, stdout } = await inProcess('--json', 'admin', 'heal', 'mine');
    expect([code, JSON.parse(stdout.toString())]).toMatchObject([
      1,
      { error: { message: expect.stringContaining('no drives') } },
    ]);
  });
});

describe('the program', () => {
  it('says its version and how it is used', async () => {
    const version = await runCommand(process.execPath, [launcher, '--version']);
    expect([version.code, version.stdout]).toEqual([0, expect.stringMatching(/^coffer \d+\.\d+\.\d+\n$/)]);
    const help = await inProcess('cp', '--help');
    expect([help.code, help.stdout.toString()]).toEqual([0, expect.stringContaining('--disable-multipart')]);
  });

  it('has pages of topics, and the help of each command', async () => {
    expect((await inProcess('help', 'exit-codes')).stdout.toString()).toContain('130');
    expect((await inProcess('help', 'admin', 'user', 'add')).stdout.toString()).toContain('coffer admin user add');
    expect((await inProcess('help')).stdout.toString()).toContain('exit-codes');
  });

  it('warns of a secret key in the address of a remote bucket', async () => {
    const env = { MC_HOST_s: 'http://access:secret-key@127.0.0.1:9' };
    const add = ['--config-dir', folder, 'replicate', 'add', 's/bucket', '--priority', 'x', '--remote-bucket'];
    const given = await runCoffer([...add, 'https://access:secret-key@other.example/bucket'], { env });
    expect([given.code, given.stderr]).toEqual([1, expect.stringContaining('write ALIAS/BUCKET')]);
    expect((await runCoffer([...add, 's/other'], { env })).stderr).not.toContain('<WARNING>');
  });

  it.each([
    ['--help'],
    ['help', '--help'],
    ['admin', '--help'],
    ['admin', 'user', 'add', 'x', '--help'],
    ['cp', '-h', 'x'],
  ])('prints help for %j', async (...args) => {
    const { code, stdout, stderr } = await inProcess(...args);
    expect([code, stderr, stdout.toString()]).toEqual([0, '', expect.stringContaining('Usage: coffer')]);
  });

  it('names the help of the command that was used in a wrong way', async () => {
    expect((await inProcess('admin', '--json', 'usr', 'list')).stdout.toString()).toContain(
      'see `coffer admin --help`',
    );
    expect((await inProcess('--quiet', 'config', 'host', 'add')).stderr).toContain('see `coffer alias set --help`');
    expect((await inProcess('cp', './file')).stderr).not.toContain('see `coffer --help`');
    expect((await inProcess('retention', 'mine/b')).stderr).toContain('see `coffer retention --help`');
  });

  it.each([
    ['mirror', '`from/photos` to `to/copies`'],
    ['diff', '`from/photos` and `to/copies`'],
  ])('names both places of %s, since each may be the one that fails', async (command, names) => {
    const server = createServer((request, response) => {
      const isRefused = request.url?.startsWith('/photos') === true;
      response.statusCode = isRefused ? 403 : 200;
      response.end(isRefused ? '<Error><Code>AccessDenied</Code></Error>' : '<ListBucketResult/>');
    });
    const host = `http://access:secret-key@127.0.0.1:${await listening(server)}`;
    const args = ['--config-dir', folder, command, 'from/photos', 'to/copies'];
    const { code, stderr } = await runCoffer(args, { env: { MC_HOST_from: host, MC_HOST_to: host } });
    expect([code, stderr]).toEqual([1, expect.stringContaining(names)]);
  });

  it('suggests nothing for a folder when it is the other argument that names nothing', async () => {
    const server = createServer((_request, response) => response.end('<ListBucketResult/>'));
    const env = { MC_HOST_mine: `http://access:secret-key@127.0.0.1:${await listening(server)}` };
    const args = ['--config-dir', folder, 'mirror', 'mine/photos/none', 'mnie/copies'];
    const { code, stderr } = await runCoffer(args, { env });
    expect([code, stderr]).toEqual([1, expect.stringContaining('does not exist')]);
    expect(stderr).not.toContain('did you mean');
  });

  it('suggests the bucket that was meant', async () => {
    const server = createServer((request, response) => {
      if (request.url !== '/') noSuchBucket(response);
      else
        response.end(
          '<ListAllMyBucketsResult><Buckets><Bucket><Name>photos</Name></Bucket></Buckets></ListAllMyBucketsResult>',
        );
    });
    const env = { MC_HOST_s: `http://access:secret-key@127.0.0.1:${await listening(server)}` };
    const { code, stderr } = await runCoffer(['--config-dir', folder, 'ls', 's/phtoos/x'], { env });
    expect([code, stderr]).toEqual([1, expect.stringContaining('did you mean `s/photos`?')]);
  });

  it('reads missing keys from standard input', async () => {
    const port = await listening(createServer((_, response) => noSuchBucket(response)));
    const args = ['--config-dir', folder, 'alias', 'set', 'a', `http://127.0.0.1:${port}`];
    expect((await runCoffer(args, { input: 'access\nsecret-key\n' })).code).toBe(0);
    const { stdout } = await inProcess('--json', 'alias', 'list', 'a');
    expect(JSON.parse(stdout.toString())).toMatchObject({ accessKey: 'access', secretKey: 'secret-key' });
  });

  it('exits with 130 when it is interrupted, and leaves neither file nor upload behind', async () => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      if (request.method === 'POST') {
        response.end('<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>');
      } else if (request.method === 'DELETE') response.writeHead(204).end();
      else if (request.method === 'HEAD') response.writeHead(200, { 'content-length': 1_000_000, etag: '"e"' }).end();
      else if (request.url?.includes('?uploads=') === true) response.end('<ListMultipartUploadsResult/>');
      else if (request.method === 'GET') response.writeHead(206, { 'content-length': 1_000_000 }).write('some');
    });
    const url = `http://access:secret-key@127.0.0.1:${await listening(server)}`;
    await writeFile(join(folder, 'large'), '');
    await truncate(join(folder, 'large'), 100 * 1_024 * 1_024);
    await mkdir(join(folder, 'down'));
    // The launcher starts the sources, which takes longer than the program of the test.
    for (const [program, from, to] of [
      [[launcher], 's/bucket/key', join(folder, 'down/')],
      [programArguments(source), join(folder, 'large'), 's/bucket/large'],
    ] as const) {
      const child = spawn(process.execPath, [...program, '--config-dir', folder, 'cp', from, to], {
        env: { PATH: process.env['PATH'], ...programEnvironment, COFFER_HOST_s: url },
        stdio: 'ignore',
      });
      const exited = once(child, 'exit');
      await expect
        .poll(() => seen.some((line) => /^(GET|PUT) .*(key|partNumber)/.test(line)), { timeout: 60_000 })
        .toBe(true);
      child.kill('SIGINT');
      expect(await exited).toEqual([130, null]);
      seen.splice(0, seen.length, ...seen.filter((line) => line.startsWith('DELETE')));
    }
    expect(seen).toEqual(['DELETE /bucket/large?uploadId=u']);
    expect(await readdir(join(folder, 'down'))).toEqual([]);
  });

  it('shows progress on a terminal, and lines elsewhere', async () => {
    const server = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(200, { etag: '"e"' }).end());
    });
    const env = { MC_HOST_s: `http://access:secret-key@127.0.0.1:${await listening(server)}` };
    await writeFile(join(folder, 'file'), 'hello');
    const args = ['--config-dir', folder, 'cp', join(folder, 'file'), 's/bucket/file'];
    const shown = (await runCoffer(args, { env, terminal: true })).stdout.toString();
    expect([shown.includes('┃▓▓▓'), shown.includes('100.0%')]).toEqual([true, true]);
    const lines = (await runCoffer(args, { env })).stdout.toString();
    expect(lines).toMatch(/^`.*file` -> `s\/bucket\/file`\nTotal: 5B, Transferred: 5B, Speed: .*\/s\n$/);
    expect((await runCoffer(['--quiet', ...args], { env, terminal: true })).stdout.toString()).toBe('');
    expect((await runCoffer(args, { env: { ...env, MC_QUIET: 'on' } })).stdout.toString()).toBe('');
    expect((await runCoffer(['--quiet', '--json', ...args], { env })).stdout.toString()).toContain(
      '"status":"success"',
    );
    const rejected = await runCoffer(['--quiet', 'cp', join(folder, 'none'), 's/bucket/'], { env });
    expect([rejected.code, rejected.stderr]).toEqual([1, expect.stringContaining('Unable to read')]);
  });
});
