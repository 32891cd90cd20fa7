import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import type { CertificateAndKey } from '../../platform/tls/certificate-and-key.ts';
import { parseConfig } from '../config/config-file.ts';
import { issueBy, startTestKeyService, type TestKeyService } from '../../test/support/keysvc/test-key-service.ts';
import { serverPaths } from './init-command.ts';
import { runCommand } from '../../test/support/keysvc/run-command.ts';
import type { Terminal } from './terminal.ts';

let folder: string;
let keys: TestKeyService;
let root: CertificateAndKey;
let app: CertificateAndKey;
const environments: Record<string, Record<string, string>> = {};
const file = (name: string) => join(folder, name);

async function environmentOf(name: string, pair: CertificateAndKey) {
  await writeFile(file(`${name}.crt`), pair.certPem);
  await writeFile(file(`${name}.key`), pair.keyPem);
  environments[name] = {
    KEYSVC_SERVER: `https://${keys.service.address}`,
    KEYSVC_CLIENT_KEY: file(`${name}.key`),
    KEYSVC_CLIENT_CERT: file(`${name}.crt`),
    KEYSVC_CAPATH: file('ca.crt'),
  };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keysvc-commands-'));
  keys = await startTestKeyService(
    async (ca) => {
      root = await issueBy(ca, 'root');
      app = await issueBy(ca, 'app');
      return `
root: ${identityOfCertificate(root.certPem)}
policy: { app: { allow: [/v1/key/create/*], deny: [/v1/key/create/x*], identities: [${identityOfCertificate(app.certPem)}] } }`;
    },
    { tls: 'auth: off' },
  );
  await writeFile(file('ca.crt'), keys.ca.certPem);
  await environmentOf('root', root);
  await environmentOf('app', app);
});
afterAll(async () => {
  await keys.stop();
  await rm(folder, { recursive: true, force: true });
});

type More = Partial<Omit<Terminal, 'readInput'>> & { input?: string; who?: string };

const run = async (args: readonly string[], { who = 'root', ...more }: More = {}) =>
  (await runCommand(args, { environment: environments[who] ?? {}, ...more })).output;

describe('the key commands', () => {
  it('make, list, describe and delete keys', async () => {
    expect(await run(['key', 'create', 'made'], { isTerminal: true })).toBe('Created key made\n');
    expect(await run(['key', 'ls', 'ma'])).toBe('made\n');
    expect(await run(['key', 'info', 'made'])).toMatch(/^Name {8}made\nID {10}[0-9a-f]{32}\nAlgorithm {3}AES256/);
    await run(['key', 'rm', 'made']);
    expect(await run(['key', 'ls', 'ma'])).toBe('');
    await expect(run(['key', 'info', 'made'])).rejects.toThrow(/key does not exist\n.*keysvc key ls/);
  });

  it('import a key from the standard input, and say what is wrong without quoting it', async () => {
    const bytes = Buffer.alloc(32, 7).toString('base64');
    await run(['key', 'import', 'brought', '--cipher', 'ChaCha20'], { input: `${bytes}\n` });
    expect(JSON.parse(await run(['key', 'info', 'brought', '--json']))).toMatchObject({
      algorithm: 'XCHACHA20-POLY1305',
    });
    await expect(run(['key', 'import', 'short'], { input: 'aHVudGVyMg==' })).rejects.toThrow(/32 bytes.* has 7$/);
    await expect(run(['key', 'import', 'k', bytes, '--cipher', 'DES'])).rejects.toThrow(/AES256 or ChaCha20/);
  });

  it('encrypt and decrypt, bound to a context', async () => {
    await run(['key', 'create', 'sealing']);
    const sealed = await run(['key', 'encrypt', 'sealing', 'secret', '--context', 'here']);
    expect(await run(['key', 'decrypt', 'sealing', '--context', 'here', '--raw'], { input: sealed })).toBe('secret');
    const { ciphertext } = JSON.parse(sealed) as { ciphertext: string };
    expect(JSON.parse(await run(['key', 'decrypt', 'sealing', ciphertext, 'here']))).toEqual({ plaintext: 'c2VjcmV0' });
    await expect(run(['key', 'decrypt', 'sealing', ciphertext])).rejects.toThrow(/not authentic/);
    await expect(run(['key', 'decrypt', 'sealing', '***'])).rejects.toThrow(/no base64/);
  });

  it('make data keys, HMACs and new versions', async () => {
    await run(['key', 'create', 'several']);
    const made = JSON.parse(await run(['key', 'generate', 'several'])) as { plaintext: string; ciphertext: string };
    expect(JSON.parse(await run(['key', 'dek', 'several']))).not.toEqual(made);
    const version = (await run(['key', 'rotate', 'several'])).trim();
    expect(JSON.parse(await run(['key', 'info', 'several', '--json']))).toMatchObject({ id: version });
    expect(await run(['key', 'info', 'several'])).toMatch(/Versions {4}2/);
    expect(JSON.parse(await run(['key', 'decrypt', 'several', made.ciphertext]))).toEqual({
      plaintext: made.plaintext,
    });
    expect(await run(['key', 'hmac', 'several', 'text'])).toBe(
      await run(['key', 'hmac', 'several'], { input: 'text' }),
    );
  });
});

describe('the identity commands', () => {
  it('tell who one is and what one may do', async () => {
    const told = await run(['identity', 'info'], { who: 'app' });
    expect(told).toContain(identityOfCertificate(app.certPem));
    expect(told).toMatch(/Policy {4}app\n/);
    expect(told).toMatch(/Allow {5}\/v1\/key\/create\/\*\nDeny {6}\/v1\/key\/create\/x\*\n/);
    expect(await run(['identity', 'info'])).toMatch(/Role {6}superuser/);
  });

  it('tell of others, and list them', async () => {
    const [identity, mine] = [identityOfCertificate(app.certPem), identityOfCertificate(root.certPem)];
    expect(await run(['identity', 'info', identity])).toMatch(/Policy {6}app\n/);
    const lines = (await run(['identity', 'ls'])).trim().split('\n').sort();
    expect(lines).toEqual([`${identity}  app`, `${mine}  (superuser)`].sort());
    await expect(run(['identity', 'info', 'x'])).rejects.toThrow(/"x" is no identity/);
  });

  it('say where identities stand that cannot be removed by a call', async () => {
    await expect(run(['identity', 'rm', 'a'.repeat(64)])).rejects.toThrow(/not implemented\n.*configuration file/);
  });
});

describe('the policy commands', () => {
  it('show what the configuration says', async () => {
    expect(await run(['policy', 'ls'])).toBe('app\n');
    expect(await run(['policy', 'show', 'app'])).toBe('allow:\n- /v1/key/create/*\ndeny:\n- /v1/key/create/x*\n');
    expect(JSON.parse(await run(['policy', 'show', 'app', '--json']))).toEqual({
      allow: ['/v1/key/create/*'],
      deny: ['/v1/key/create/x*'],
    });
    expect(await run(['policy', 'info', 'app'])).toMatch(/^Name {8}app\nCreated /);
    await expect(run(['policy', 'show', 'none'])).rejects.toThrow(/policy does not exist/);
  });

  it('say that they are changed in the file', async () => {
    await writeFile(file('policy.yml'), 'allow: [/v1/status]');
    await expect(run(['policy', 'create', 'new', file('policy.yml')])).rejects.toThrow(/configuration file/);
    await expect(run(['policy', 'create', 'new', file('ca.crt')])).rejects.toThrow(/is no policy/);
  });
});

describe('what is watched', () => {
  it('status tells of the key store', async () => {
    expect(await run(['status'])).toMatch(/Version .*\n[^]*Key store {2}answers in \d+ ms\n/);
    expect(await run(['status', '--short'])).toMatch(/^answers in \d+ ms\n$/);
    expect(await run(['status', '--api'])).toMatch(/POST {3}\/v1\/key\/create\/ +0 B {2}15 s/);
  });

  it('metric shows the counts, to programs as Prometheus reads them', async () => {
    expect(await run(['metric'])).toMatch(/^# HELP kes_http_request_success/m);
    expect(await run(['metric'], { isTerminal: true })).toMatch(/^Calls answered {3}[1-9]/);
    expect(JSON.parse(await run(['metric', '--json']))).toHaveProperty('kes_system_num_cpu');
    await expect(run(['metric', '--rate', 'often'])).rejects.toThrow(/"often" is no duration/);
  });

  it('log shows each call until it is interrupted', async () => {
    const end = new AbortController();
    let shown = '';
    const watching = run(['log'], {
      isTerminal: true,
      interrupted: end.signal,
      write: (text) => (shown += Buffer.from(text).toString()),
    });
    // Earlier calls are not in the stream.
    await expect
      .poll(
        async () => {
          await run(['key', 'ls']);
          return shown;
        },
        { timeout: 90_000 },
      )
      .toMatch(/ {2}200 {2}[0-9a-f]{8}… {2}127\.0\.0\.1 +\/v1\/key\/list\/\* {2}[\d.]+ ms\n/);
    end.abort();
    await watching;
  });
});

describe('a call that fails says what to do', () => {
  it('where the policy does not allow it', async () => {
    await expect(run(['key', 'ls'], { who: 'app' })).rejects.toThrow(
      /insufficient permissions\n.*keysvc identity info/,
    );
  });

  it('where no server is there', async () => {
    const environment = { ...environments['root'], KEYSVC_SERVER: 'https://127.0.0.1:1' };
    await expect(runCommand(['status'], { environment })).rejects.toThrow(/ECONNREFUSED[^]*Is it running\?/);
  });

  it('where the server is not trusted', async () => {
    const { KEYSVC_CAPATH: _, ...environment } = environments['root'] ?? {};
    const refused = await runCommand(['status'], { environment }).catch((error: Error) => error.message);
    expect(refused).toMatch(/KEYSVC_CAPATH is not set, issued its certificate: name by KEYSVC_CAPATH the one/);
    expect(refused).not.toContain('Node.js');
    expect((await runCommand(['status', '-k', '-s'], { environment })).output).toMatch(/^answers/);
  });

  it('where no credentials are given', async () => {
    await expect(runCommand(['status'])).rejects.toThrow(/KEYSVC_CLIENT_KEY is not set.*KEYSVC_API_KEY/);
  });
});

describe('an API key', () => {
  it('replaces a certificate where the server takes those that sign themselves', async () => {
    const { output } = await runCommand(['identity', 'new']);
    const [, apiKey = '', identity] = /API key: +(\S+)\nIdentity: (\S+)/.exec(output) ?? [];
    // An empty variable counts as one that is not set.
    const environment = { KES_SERVER: environments['root']?.['KEYSVC_SERVER'], KES_API_KEY: apiKey, KEYSVC_SERVER: '' };
    expect((await runCommand(['identity', 'info', '-k'], { environment })).output).toContain(identity);
  });
});

describe('init', () => {
  it('makes a configuration that holds, for a client with the paths of the specification', async () => {
    const { output } = await runCommand(['init', file('first'), '--dns', 'keys.example']);
    expect(output).toContain(`keysvc server --config ${file('first/keysvc.yml')} --auth=off`);
    const config = parseConfig(await readFile(file('first/keysvc.yml'), 'utf8'), {});
    expect(config.policies).toMatchObject([{ allow: serverPaths, deny: [] }]);
    expect(config.policies[0]?.identities).toEqual([identityOfCertificate(await readFile(file('first/client.crt')))]);
    expect((await stat(file('first/client.key'))).mode & 0o777).toBe(0o600);
    await expect(runCommand(['init', file('first')])).rejects.toThrow(/exists already.*--force/);
  });
});

/** A configuration whose other settings are invalid: it may be the file of another program. */
async function keyStoreFile(name: string): Promise<string> {
  await writeFile(file(`${name}.yml`), `root: \${NOT_SET}\nkeystore: { fs: { path: ${file(name)} } }\n`);
  return file(`${name}.yml`);
}

describe('migrate', () => {
  it('copies keys between the key stores of two files, and again only what is new', async () => {
    const [from, to] = [await keyStoreFile('from'), await keyStoreFile('to')];
    const { openFilesKeyStore } = await import('../keystores/files-keystore.ts');
    const source = await openFilesKeyStore(file('from'));
    const record = Buffer.from(JSON.stringify({ bytes: Buffer.alloc(32).toString('base64') }));
    await source.create('one', record);
    await source.create('two', record);
    const ran = async (...more: string[]) =>
      (await runCommand(['migrate', '--from', from, '--to', to, ...more])).output;
    expect(await ran('--dry-run')).toBe('2 to copy, 0 already there, 0 different, 0 not readable\n');
    expect(await ran('one')).toMatch(/^1 copied and read back, 0 already there/);
    expect(await ran()).toMatch(/^1 copied and read back, 1 already there/);
    expect(await readFile(file('to/two'))).toEqual(record);
    await source.delete('two');
    await source.create('two', Buffer.from(JSON.stringify({ bytes: Buffer.alloc(32, 1).toString('base64') })));
    await expect(ran()).rejects.toThrow(/not every key/);
    expect(await ran('--merge')).toMatch(/1 different/);
    expect(await readFile(file('to/two'))).toEqual(record);
  });

  it('names the file whose key store is wrong', async () => {
    await writeFile(file('none.yml'), 'root: disabled');
    await expect(runCommand(['migrate', '--from', file('none.yml'), '--to', await keyStoreFile('to')])).rejects.toThrow(
      /none\.yml: keystore is missing/,
    );
    await expect(runCommand(['migrate', '--from', file('none.yml')])).rejects.toThrow(/--to/);
  });
});
