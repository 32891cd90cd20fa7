import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeCa } from '../../platform/tls/issue-certificate.ts';
import { issue } from '../support/server/keysvc-process.ts';
import { runCoffer } from '../support/server/run-coffer.ts';

let folder: string;
const servers: Server[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-trust-'));
});

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  await rm(folder, { recursive: true, force: true });
});

async function listening(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function noSuchBucket(_: unknown, response: ServerResponse): void {
  response.writeHead(404).end('<Error><Code>NoSuchBucket</Code><Message>None.</Message></Error>');
}

const authority = () => makeCa({ commonName: 'someone', validForMs: 3_600_000 });

async function tlsServer(
  ca = authority(),
  name = 'server',
  handler: (request: IncomingMessage, response: ServerResponse) => void = noSuchBucket,
): Promise<string> {
  const issued = await issue(await ca, name);
  return listening(createTlsServer({ cert: issued.certPem, key: issued.keyPem }, handler));
}

/** `typed` is what the user types at a terminal; without it there is no terminal. */
const coffer = (args: readonly string[], typed?: string) =>
  runCoffer(['--config-dir', folder, ...args], typed === undefined ? {} : { typed });
const set = (url: string, ...more: string[]) => ['alias', 'set', 'a', url, '', '', ...more];
const kept = () => readdir(join(folder, 'certs', 'CAs')).catch(() => []);

const copyObject = (url: string, ...flags: string[]) =>
  runCoffer(['--config-dir', folder, ...flags, 'cp', 'o/bucket/object', join(folder, 'object')], {
    env: { MC_HOST_o: url.replace('https://', 'https://access:secret-key@') },
  });

describe('a large object', () => {
  const bytes = Buffer.alloc(6 * 1_024 * 1_024, 'abcdefg');

  /** Returns the address of a server with one object, and the connections that its requests asked for. */
  async function objectServer() {
    const connections: unknown[] = [];
    const address = await tlsServer(undefined, undefined, (request, response) => {
      connections.push(`${request.method} ${request.headers.connection}`);
      response.setHeader('etag', '"some-etag"').setHeader('content-length', bytes.length);
      response.end(request.method === 'HEAD' ? undefined : bytes);
    });
    return { url: `https://${address}`, connections };
  }

  it('comes whole over TLS, on a connection of its own', async () => {
    const { url, connections } = await objectServer();
    expect(await copyObject(url, '--insecure')).toMatchObject({ code: 0 });
    expect((await readFile(join(folder, 'object'))).equals(bytes)).toBe(true);
    expect(connections).toContain('GET close');
  });

  it('does not come from a server whose certificate is unknown', async () => {
    const { url, connections } = await objectServer();
    expect((await copyObject(url)).code).toBe(1);
    expect(connections).toEqual([]);
  });
});

describe('an unknown certificate', () => {
  it('is shown, trusted after yes, and not asked for again', async () => {
    const url = `https://${await tlsServer()}`;
    const first = await coffer(set(url), 'y\n');
    expect([first.code, first.stderr]).toEqual([0, expect.stringMatching(/Issued by: .*someone/)]);
    expect(first.stderr).toMatch(/Names: .*127\.0\.0\.1/);
    expect(first.stderr).toMatch(/Valid: +\d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d/);
    expect(first.stderr).toMatch(/Fingerprint of the public key: [0-9a-f]{64}/);
    expect(await kept()).toEqual(['a.crt']);
    expect(await coffer(set(url))).toMatchObject({ code: 0, stderr: '' });
    expect(await coffer(['ls', 'a/bucket'])).toMatchObject({ stderr: expect.stringContaining('None') as unknown });
  });

  it.each(['n\n', '\n', ''])('is refused after %j, and nothing is saved', async (typed) => {
    const { code, stderr } = await coffer(set(`https://${await tlsServer()}`), typed);
    expect([code, stderr]).toEqual([1, expect.stringContaining('is not trusted')]);
    expect(await readdir(folder)).toEqual([]);
  });

  it('is refused without a terminal, and the flag that trusts it is named', async () => {
    const url = `https://${await tlsServer()}`;
    const rejected = await coffer(set(url));
    const flag = /--trust ([0-9a-f]{64})/.exec(rejected.stderr)?.[1] ?? '';
    expect([rejected.code, rejected.stderr]).toEqual([1, expect.stringContaining('certs/CAs')]);
    expect((await coffer(set(url, '--trust', 'ab'.repeat(32)))).stderr).toContain('not the one of --trust');
    expect((await coffer(set(url, '--trust', 'x'))).stderr).toContain('Invalid --trust');
    expect((await coffer(set(url, '--trust', `SHA256:${flag.toUpperCase()}`))).code).toBe(0);
  });

  it('that replaces a trusted one is pointed out', async () => {
    await coffer(set(`https://${await tlsServer()}`), 'y\n');
    const { stderr } = await coffer(set(`https://${await tlsServer()}`), 'n\n');
    expect(stderr).toContain('not the certificate that was trusted before for a');
  });

  it('for another name is refused with the names that it has', async () => {
    const address = await tlsServer();
    const url = `https://coffer.test:${address.split(':')[1]}`;
    const { code, stderr } = await coffer(['--resolve', 'coffer.test=127.0.0.1', ...set(url)], 'y\n');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/is for .*127\.0\.0\.1.*--resolve/)]);
  });

  it('is trusted by its authority in certs/CAs, or not looked at with --insecure', async () => {
    const ca = await authority();
    const url = `https://${await tlsServer(Promise.resolve(ca))}`;
    expect(await coffer(['--insecure', ...set(url)])).toMatchObject({ code: 0, stderr: '' });
    expect(await kept()).toEqual([]);
    await mkdir(join(folder, 'certs/CAs'), { recursive: true });
    await writeFile(join(folder, 'certs/CAs/mine.crt'), ca.certPem);
    expect(await coffer(set(url))).toMatchObject({ code: 0, stderr: '' });
  });

  it('of a server in the configuration points to the command that asks', async () => {
    const url = await tlsServer();
    const { code, stderr } = await runCoffer(['--config-dir', folder, 'ls', 'x'], {
      env: { MC_HOST_x: `https://access:secret-key@${url}` },
    });
    expect([code, stderr]).toEqual([1, expect.stringContaining('`coffer alias set` shows it')]);
  });
});

describe('an address without a scheme', () => {
  it('is https where the server speaks TLS', async () => {
    const address = await tlsServer();
    expect((await coffer(set(address), 'y\n')).code).toBe(0);
    expect(await readFile(join(folder, 'config.json'), 'utf8')).toContain(`"https://${address}"`);
  });

  it('is http only after yes', async () => {
    const address = await listening(createServer(noSuchBucket));
    const rejected = await coffer(set(address), 'n\n');
    expect([rejected.code, rejected.stderr]).toEqual([1, expect.stringContaining('does not speak TLS')]);
    expect((await coffer(set(address))).stderr).toContain(`write http://${address}`);
    expect((await coffer(set(address), 'yes\n')).code).toBe(0);
    expect(await readFile(join(folder, 'config.json'), 'utf8')).toContain(`"http://${address}"`);
  });

  it('of nobody is an error', async () => {
    const { code, stderr } = await coffer(set('127.0.0.1:9'));
    expect([code, stderr]).toEqual([1, expect.stringContaining('no server listens there')]);
  });

  it('that was written with https is never used by http', async () => {
    const address = await listening(createServer(noSuchBucket));
    expect((await coffer(set(`https://${address}`), 'y\n')).stderr).toContain(`write http://${address}`);
  });
});

const plain = async () => `http://${await listening(createServer(noSuchBucket))}`;
const exported = async () => JSON.parse((await coffer(['alias', 'export', 'a'])).stdout.toString()) as unknown;

describe('keys', () => {
  it('are typed, and the secret one is not shown', async () => {
    const { code, stderr } = await coffer(['alias', 'set', 'a', await plain()], 'access\nsecret-key\n');
    expect(code).toBe(0);
    expect(stderr).not.toContain('secret-key');
    expect(await exported()).toMatchObject({ accessKey: 'access', secretKey: 'secret-key' });
  });

  it('come from the environment', async () => {
    const env = { COFFER_ACCESS_KEY: 'access', COFFER_SECRET_KEY: 'secret-key', COFFER_CONFIG_DIR: folder };
    const args = ['alias', 'set', 'a', await plain()];
    expect(await runCoffer(args, { env })).toMatchObject({ code: 0, stderr: '' });
    expect(await exported()).toMatchObject({ accessKey: 'access', secretKey: 'secret-key' });
  });

  it('on the command line are taken with a warning', async () => {
    const { code, stderr } = await coffer(['alias', 'set', 'a', await plain(), 'access', 'secret-key']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('<WARNING>')]);
    expect(stderr).not.toContain('secret-key');
  });

  it('that are missing are an error without a terminal', async () => {
    const { code, stderr } = await coffer(['alias', 'set', 'a', await plain()]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('COFFER_ACCESS_KEY')]);
  });
});

describe('an alias as a document', () => {
  const document = { url: 'http://h:9000', accessKey: 'access', secretKey: 'secret-key', api: 's3v4', path: 'on' };

  it('is imported from standard input, and exported as it was', async () => {
    const run = ['--config-dir', folder, 'alias', 'import', 'a'];
    expect((await runCoffer(run, { input: JSON.stringify(document) })).code).toBe(0);
    const { stdout } = await coffer(['alias', 'export', 'a/']);
    expect(JSON.parse(stdout.toString())).toEqual({ ...document, api: 'S3v4' });
  });

  it.each([
    ['{"secretKey":"hidden-value"', 'not valid JSON'],
    ['[]', 'no JSON object'],
    ['{"url":7}', '"url" is no string'],
    ['{"url":"http://h","api":"S3v2"}', 'S3v4'],
    ['{"url":"h:9000"}', 'Invalid URL'],
    ['{"url":"http://h","accessKey":"a","secretKey":"hidden-value"}', 'at least 3'],
    ['{"url":"http://h","path":"maybe"}', 'auto, on or off'],
  ])('%s is refused', async (text, message) => {
    await writeFile(join(folder, 'alias.json'), text);
    const { code, stderr } = await coffer(['alias', 'import', 'a', join(folder, 'alias.json')]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(stderr).not.toContain('hidden-value');
  });
});
