import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { credentialsOf } from './connect.ts';
import { runCommand } from '../../test/support/keysvc/run-command.ts';
import { isForTesting } from '../../platform/tls/issue-certificate.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keysvc-program-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function run(args: readonly string[], isTerminal = false): Promise<string> {
  const { output } = await runCommand(args, { isTerminal });
  return output;
}

describe('identity new', () => {
  it('makes a key and a certificate whose identity "identity of" prints', async () => {
    const [key, cert] = [join(folder, 'me.key'), join(folder, 'me.crt')];
    const printed = await run([
      'identity',
      'new',
      'me',
      '--key',
      key,
      '--cert',
      cert,
      '--ip',
      '127.0.0.1',
      '--dns',
      'a,b',
      '--dns',
      'c',
    ]);
    const certificate = new X509Certificate(await readFile(cert));
    expect(certificate.subject).toBe('CN=me');
    expect(isForTesting(certificate)).toBe(true);
    expect(certificate.subjectAltName).toBe('DNS:a, DNS:b, DNS:c, IP Address:127.0.0.1');
    expect((await stat(key)).mode & 0o777).toBe(0o600);
    const identity = await run(['identity', 'of', cert]);
    expect(identity).toMatch(/^[0-9a-f]{64}$/);
    expect(printed).toContain(`Identity: ${identity}\n`);
    expect(await run(['identity', 'of', /kes:v1:\S+/.exec(printed)?.[0] ?? ''])).toBe(identity);
    expect(await run(['identity', 'of', cert], true)).toBe(`Identity: ${identity}\n`);
  });

  it('is valid for 30 days and is named after its identity unless told otherwise', async () => {
    const [key, cert] = [join(folder, 'plain.key'), join(folder, 'plain.crt')];
    await run(['identity', 'new', '--key', key, '--cert', cert]);
    const certificate = new X509Certificate(await readFile(cert));
    expect(certificate.subject).toBe(`CN=${await run(['identity', 'of', cert])}`);
    const days = (certificate.validToDate.getTime() - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(30);
  });

  it('replaces files only when forced', async () => {
    const args = ['identity', 'new', 'x', '--key', join(folder, 'x.key'), '--cert', join(folder, 'x.crt')];
    await run(args);
    const before = await readFile(join(folder, 'x.key'), 'utf8');
    await expect(run(args)).rejects.toThrow(/x\.key exists already.*--force/);
    expect(await readFile(join(folder, 'x.key'), 'utf8')).toBe(before);
    await run([...args, '-f']);
    expect(await readFile(join(folder, 'x.key'), 'utf8')).not.toBe(before);
  });

  it('without files makes only an API key', async () => {
    expect(await run(['identity', 'new'])).toMatch(/^API key: {2}kes:v1:\S+\nIdentity: [0-9a-f]{64}\n$/);
  });

  it.each([
    [['--key', 'k'], /go together/],
    [['--ip', 'localhost'], /"localhost" is no IP address/],
    [['--expiry', 'soon'], /"soon" is no duration/],
    [['--expiry', '3651d'], /"3651d" is longer than 3650d, the maximum/],
    [['--expiry', '999999d'], /"999999d" is longer than 3650d, the maximum/],
  ])('refuses %j', async (args, message) => {
    await expect(run(['identity', 'new', ...args])).rejects.toThrow(message);
  });
});

describe('identity of', () => {
  it('says which file it cannot read, and what it needs', async () => {
    await expect(run(['identity', 'of', '/none'])).rejects.toThrow(
      'cannot read /none: no such file or folder; name the file of a certificate, or give an API key',
    );
    await expect(run(['identity', 'of', folder])).rejects.toThrow(`cannot read ${folder}: it is a folder; name`);
  });

  it('says when a file is no certificate', async () => {
    await expect(run(['identity', 'of', new URL(import.meta.url).pathname])).rejects.toThrow(/is no certificate/);
  });
});

describe('the credentials of the environment', () => {
  it('are a pair of files or an API key, not both', () => {
    const pair = { KEYSVC_CLIENT_KEY: 'k', KEYSVC_CLIENT_CERT: 'c' };
    expect(credentialsOf(pair)).toEqual({ kind: 'files', keyFile: 'k', certFile: 'c' });
    expect(credentialsOf({ KES_API_KEY: 'kes:v1:x' })).toEqual({ kind: 'api-key', apiKey: 'kes:v1:x' });
    expect(() => credentialsOf({ ...pair, KEYSVC_API_KEY: 'kes:v1:x' })).toThrow(/both set/);
    expect(() => credentialsOf({ KEYSVC_CLIENT_KEY: 'k' })).toThrow(/KEYSVC_CLIENT_CERT is not set/);
  });
});

describe('check', () => {
  it('tells the warnings of the configuration, as a start does', async () => {
    const path = join(folder, 'config.yml');
    await writeFile(
      path,
      `root: disabled
tls: { key: k.pem, cert: c.pem }
keys: [{ name: "" }]
keystore: { fs: { path: ${join(folder, 'keys')} } }`,
    );
    const { reported } = await runCommand(['check', '--config', path]);
    expect(reported).toMatch(/^Warning: keys\.0\.name is not set, so that no key is made/);
  });
});
