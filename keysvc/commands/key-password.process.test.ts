import { createCipheriv, createHash, createPrivateKey, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import { startTestKeyService, type TestKeyService } from '../../test/support/keysvc/test-key-service.ts';
import { runCommand } from '../../test/support/keysvc/run-command.ts';

const password = 'a long password';
let folder: string;
let keys: TestKeyService;
const file = (name: string) => join(folder, name);
const make = (name: string, ...more: string[]) =>
  ['identity', 'new', name, '--key', file(`${name}.key`), '--cert', file(`${name}.crt`), '--encrypt'].concat(more);
const typing = (...answers: string[]) => ({
  askSecret: () => Promise.resolve(answers.shift()),
});

const askNobody = () => Promise.reject(new Error('nobody is to be asked'));
const md5 = (...parts: Buffer[]) => createHash('md5').update(Buffer.concat(parts)).digest();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keysvc-password-'));
  await runCommand(make('app'), typing(password, password));
  const identity = identityOfCertificate(await readFile(file('app.crt'), 'utf8'));
  keys = await startTestKeyService(() => Promise.resolve(`root: ${identity}`), { tls: 'auth: off' });
  await writeFile(file('ca.crt'), keys.ca.certPem);
});
afterAll(async () => {
  await keys.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('identity new --encrypt', () => {
  it('writes a private key that opens with the password alone, and prints neither it nor an API key', async () => {
    const { output, reported } = await runCommand(make('other'), typing(password, password));
    const key = await readFile(file('other.key'), 'utf8');
    expect(key).toMatch(/^-----BEGIN ENCRYPTED PRIVATE KEY-----/);
    expect((await stat(file('other.key'))).mode & 0o777).toBe(0o600);
    expect(createPrivateKey({ key, passphrase: password }).asymmetricKeyType).toBe('ed25519');
    expect(() => createPrivateKey({ key, passphrase: 'another' })).toThrow();
    expect(output).toMatch(/^Identity: [0-9a-f]{64}\n/);
    expect(output + reported).not.toMatch(/kes:v1|a long/);
  });

  it.each([
    ['two passwords that differ', ['a', 'b'], /the two passwords differ/],
    ['an empty password', ['', ''], /is empty/],
    ['no terminal', [], /KEYSVC_KEY_PASSWORD_FILE/],
  ])('refuses %s, and leaves no file', async (_what, answers, message) => {
    await expect(runCommand(make('refused'), typing(...answers))).rejects.toThrow(message);
    await expect(stat(file('refused.key'))).rejects.toThrow('ENOENT');
  });

  it('without a file for the key is refused', async () => {
    await expect(runCommand(['identity', 'new', '--encrypt'], typing(password, password))).rejects.toThrow(/--key/);
  });

  it('takes the password of the environment, or of a file', async () => {
    await writeFile(file('password'), `${password}\n`);
    for (const environment of [{ KEYSVC_KEY_PASSWORD: password }, { KEYSVC_KEY_PASSWORD_FILE: file('password') }]) {
      await runCommand(make('environment', '--force'), { environment });
      const key = await readFile(file('environment.key'), 'utf8');
      expect(createPrivateKey({ key, passphrase: password }).type).toBe('private');
    }
    const environment = { KEYSVC_KEY_PASSWORD: password, KEYSVC_KEY_PASSWORD_FILE: file('password') };
    await expect(runCommand(make('environment', '--force'), { environment })).rejects.toThrow(/both set/);
  });
});

const environment = () => ({
  KEYSVC_SERVER: `https://${keys.service.address}`,
  KEYSVC_CLIENT_KEY: file('app.key'),
  KEYSVC_CLIENT_CERT: file('app.crt'),
  KEYSVC_CAPATH: file('ca.crt'),
});
const list = (more: Parameters<typeof runCommand>[1] & object) => runCommand(['key', 'ls'], more);

describe('a client whose private key is encrypted', () => {
  it('is asked for the password', async () => {
    const questions: string[] = [];
    const askSecret = (question: string) => {
      questions.push(question);
      return Promise.resolve(password);
    };
    await expect(list({ environment: environment(), askSecret })).resolves.toMatchObject({ output: '' });
    expect(questions).toEqual([`Password of the private key ${file('app.key')}: `]);
  });

  it('is not asked where the environment has it', async () => {
    const more = { environment: { ...environment(), KEYSVC_KEY_PASSWORD: password }, askSecret: askNobody };
    await expect(list(more)).resolves.toMatchObject({ output: '' });
  });

  it('is told of a wrong password, which is not quoted, and of a missing one', async () => {
    const wrong = list({ environment: environment(), ...typing('not-the-password') });
    await expect(wrong).rejects.toThrow(/app\.key is not a private key of that password/);
    await expect(wrong).rejects.not.toThrow(/not-the-password/);
    await expect(list({ environment: environment() })).rejects.toThrow(/KEYSVC_KEY_PASSWORD/);
  });

  it('may have the key that another tool of the protocol encrypted', async () => {
    // The form of `kes identity new --encrypt`: a header in the PEM, and OpenSSL's first derivation of a key.
    const key = createPrivateKey({ key: await readFile(file('app.key')), passphrase: password });
    const iv = randomBytes(16);
    const salted = [Buffer.from(password), iv.subarray(0, 8)];
    const first = md5(...salted);
    const cipher = createCipheriv('aes-256-cbc', Buffer.concat([first, md5(first, ...salted)]), iv);
    const bytes = Buffer.concat([cipher.update(key.export({ type: 'pkcs8', format: 'der' })), cipher.final()]);
    const head = `Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,${iv.toString('hex')}\n\n`;
    const lines = bytes.toString('base64').replaceAll(/.{64}/g, '$&\n');
    await writeFile(file('kes.key'), `-----BEGIN PRIVATE KEY-----\n${head}${lines}\n-----END PRIVATE KEY-----\n`);
    const more = { environment: { ...environment(), KEYSVC_CLIENT_KEY: file('kes.key') }, ...typing(password) };
    await expect(list(more)).resolves.toMatchObject({ output: '' });
  });
});
