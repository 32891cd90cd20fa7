import { generateKeyPairSync } from 'node:crypto';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../support/process/run-command.ts';
import { report } from '../support/report.ts';
import { nodeOf, versions } from './nodes.ts';

const prefix = process.env['COFFER_TEST_PREFIX'] ?? '';
const checkout = fileURLToPath(new URL('../../bin/coffer.js', import.meta.url));
const signer = fileURLToPath(new URL('../../.ci/client/sign.js', import.meta.url));
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-package-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each(versions)('on Node %i', (version) => {
  const coffer = (...args: string[]) =>
    runCommand(nodeOf(version), [join(prefix, 'bin', 'coffer'), ...args], { env: { COFFER_CONFIG_DIR: folder } });

  it('starts, and says its version', async () => {
    expect(await coffer('--version')).toEqual({ code: 0, stdout: 'coffer 0.1.0\n', stderr: '' });
  });

  it('knows every command and topic', async () => {
    for (const words of [['cp'], ['admin', 'user', 'add'], ['idp', 'openid', 'test'], ['credentials']]) {
      const { code, stdout, stderr } = await coffer('help', ...words);
      expect([code, stderr, stdout.includes(`coffer ${words.join(' ')}`)]).toEqual([0, '', true]);
    }
  });

  it.skipIf(version === 20)('keeps compiled modules in a folder of the user alone', async () => {
    const cache = join(folder, `cache-${version}`);
    // Node's own default is a folder in the temporary one, which others may have made.
    const temporary = await mkdtemp(join(folder, 'temporary-'));
    const env = { XDG_CACHE_HOME: cache, TMPDIR: temporary };
    const start = () => runCommand(nodeOf(version), [join(prefix, 'bin', 'coffer'), 'help', 'cp'], { env });
    expect((await start()).code).toBe(0);
    const compiled = join(cache, 'coffer', 'compile');
    expect((await stat(compiled)).mode & 0o777).toBe(0o700);
    expect(await readdir(compiled)).not.toEqual([]);
    await rm(compiled, { recursive: true });
    await mkdir(compiled);
    // Another user could put modules there.
    await chmod(compiled, 0o777);
    expect((await start()).code).toBe(0);
    expect(await readdir(compiled)).toEqual([]);
    expect(await readdir(temporary)).toEqual([]);
  });

  it('starts in little time', async () => {
    const server = createServer((_, response) => {
      response.end('<ListAllMyBucketsResult><Buckets></Buckets></ListAllMyBucketsResult>');
    });
    await listening(server);
    const { port } = server.address() as AddressInfo;
    const env = { MC_HOST_s: `http://access:secret-key@127.0.0.1:${port}`, COFFER_CONFIG_DIR: folder };
    for (const args of [['--version'], ['ls', 's']]) {
      const times: number[] = [];
      for (let time = 0; time < 20; time += 1) {
        const started = performance.now();
        await runCommand(nodeOf(version), [join(prefix, 'bin', 'coffer'), ...args], { env });
        times.push(performance.now() - started);
      }
      const [fastest = 0, , , , , , , , , , middle = 0] = times.toSorted((one, other) => one - other);
      report(
        `Node ${version}: coffer ${args[0]}: ${fastest.toFixed(0)} ms at best, ${middle.toFixed(0)} ms in the middle`,
      );
    }
    server.closeAllConnections();
    server.close();
  });
});

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

it('brings pages of the manual', async () => {
  expect(await readdir(join(prefix, 'share', 'man', 'man1'))).toEqual(
    expect.arrayContaining(['coffer.1', 'coffer-admin.1', 'coffer-idp.1']),
  );
});

describe('an update', () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  let server: Server;
  let address: string;
  let release: string;
  let key: string;
  /** A copy of the installation, which the test changes. */
  let copy: string;

  const update = (env: Record<string, string> = {}) =>
    runCommand(nodeOf(20), [join(copy, 'lib', 'coffer.js'), 'update'], {
      env: { COFFER_UPDATE_URL: address, COFFER_UPDATE_KEY: key, COFFER_CONFIG_DIR: folder, ...env },
    });
  const version = async () =>
    (await runCommand(nodeOf(20), [join(copy, 'lib', 'coffer.js'), '--version'])).stdout.trim();

  /** Makes a release of another version: the package with a module more. */
  async function publish(number: string): Promise<void> {
    const path = join(release, 'package.json');
    const document = JSON.parse(await readFile(path, 'utf8')) as object;
    await writeFile(path, JSON.stringify({ ...document, version: number }));
    await writeFile(join(release, 'lib', `more-${number}.js`), '// more\n');
    const signed = await runCommand(process.execPath, [signer, join(folder, 'key.pem'), release]);
    expect(signed.stderr).toBe('');
    key = signed.stdout.trim();
  }

  beforeAll(async () => {
    release = join(folder, 'release');
    copy = join(folder, 'copy');
    const installed = join(prefix, 'lib', 'node_modules', 'coffer');
    await cp(installed, release, { recursive: true });
    await cp(installed, copy, { recursive: true });
    await writeFile(join(folder, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    server = createServer((request, response) => {
      readFile(join(release, decodeURIComponent(request.url ?? ''))).then(
        (bytes) => response.end(bytes),
        () => response.writeHead(404).end(),
      );
    });
    address = await listening(server);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('finds nothing newer', async () => {
    await publish('0.1.0');
    expect(await update()).toMatchObject({ code: 0, stdout: expect.stringContaining('newest') as unknown });
  });

  it('replaces the client by a newer one, which runs', async () => {
    await publish('0.2.0');
    expect(await update()).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('from 0.1.0 to 0.2.0') as unknown,
    });
    expect(await version()).toBe('coffer 0.2.0');
    expect(await readdir(join(copy, 'lib'))).toContain('more-0.2.0.js');
    expect(await update()).toMatchObject({ code: 0 });
  });

  it('changes nothing when a file or the signature is wrong', async () => {
    await publish('0.3.0');
    const other = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
    expect(await update({ COFFER_UPDATE_KEY: other })).toMatchObject({ code: 255 });
    await writeFile(join(release, 'lib', 'more-0.3.0.js'), '// evil\n');
    const rejected = await update();
    expect([rejected.code, rejected.stderr]).toEqual([255, expect.stringContaining('does not match its checksum')]);
    expect(await version()).toBe('coffer 0.2.0');
    expect(await readdir(join(copy, 'lib'))).not.toContain('more-0.3.0.js');
  });

  it('is refused in a checkout, and where nobody says where releases are', async () => {
    const rejected = await runCommand(process.execPath, [checkout, 'update'], { env: { COFFER_CONFIG_DIR: folder } });
    expect([rejected.code, rejected.stderr]).toEqual([255, expect.stringContaining('by git')]);
    expect((await update({ COFFER_UPDATE_URL: '' })).stderr).toContain('COFFER_UPDATE_URL');
  });
});
