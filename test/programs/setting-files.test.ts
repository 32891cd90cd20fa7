import { createPrivateKey } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { DatabaseError } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allAliases } from '../../cli/config/aliases.ts';
import { run } from '../../cli/program.ts';
import { readDocument } from '../../cli/terminal/io.ts';
import { inCluster } from '../../operator/kube-client/connection.ts';
import { ManifestFolder } from '../../operator/runtime/local/manifest-folder.ts';
import { bearerFetch } from '../../platform/openid/bearer-fetch.ts';
import { createFormerRoot } from '../../server/auth/root-credentials.ts';
import { RolePassword } from '../../server/store/postgres/password.ts';
import { run as runStoreTool } from '../../server/store-tool/program.ts';
import { runCommand } from '../support/keysvc/run-command.ts';

let folder: string;
let files = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-setting-files-'));
});
afterAll(() => rm(folder, { recursive: true }));

const bom = '\uFEFF';
const secret = 'pässword-1';

async function fileWith(content: string | Buffer, name?: string): Promise<string> {
  files += 1;
  const path = join(folder, name ?? `file-${files}`);
  await writeFile(path, content);
  return path;
}

const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** Runs a client, and returns what it writes to standard error. */
async function errorOf(
  program: (words: readonly string[], io: Parameters<typeof run>[1]) => Promise<number>,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<string> {
  let text = '';
  const collect = () =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        text += chunk.toString();
        done();
      },
    });
  const streams = { stdin: new PassThrough().end(), stdout: collect(), stderr: collect() };
  await program(words, { ...streams, env, signal: new AbortController().signal });
  return text;
}

const make = (environment: Record<string, string>, name: string) => {
  const [key, certificate] = [join(folder, name), `${join(folder, name)}.crt`];
  return runCommand(['identity', 'new', 'app', '--key', key, '--cert', certificate, '--encrypt'], { environment });
};

describe('the password of a private key', () => {
  it.each(['\n', '\r\n', '\r', ''])('ends before %j in a variable and in a file', async (end) => {
    const name = `key-${Buffer.from(end).toString('hex')}`;
    await make({ KEYSVC_KEY_PASSWORD: `${secret}${end}` }, `${name}-variable`);
    await make({ KEYSVC_KEY_PASSWORD_FILE: await fileWith(`${bom}${secret}${end}`) }, `${name}-file`);
    for (const one of [`${name}-variable`, `${name}-file`]) {
      const key = await readFile(join(folder, one), 'utf8');
      expect(createPrivateKey({ key, passphrase: secret }).type).toBe('private');
    }
  });

  it('is refused by name in another encoding, or with a blank at its end', async () => {
    await expect(make({ KEYSVC_KEY_PASSWORD: latin1(secret).toString('utf8') }, 'none')).rejects.toThrow(
      'the environment variable KEYSVC_KEY_PASSWORD has bytes that are not UTF-8',
    );
    await expect(make({ KEYSVC_KEY_PASSWORD: `${secret} ` }, 'none')).rejects.toThrow(
      'KEYSVC_KEY_PASSWORD begins or ends with a blank',
    );
    const path = await fileWith(latin1(secret));
    await expect(make({ KEYSVC_KEY_PASSWORD_FILE: path }, 'none')).rejects.toThrow(
      `KEYSVC_KEY_PASSWORD_FILE is ${path}, which cannot be read: it is not UTF-8`,
    );
    const blank = await fileWith(`${secret} \nmore`);
    await expect(make({ KEYSVC_KEY_PASSWORD_FILE: blank }, 'none')).rejects.toThrow(
      'its first line begins or ends with a blank',
    );
  });
});

describe('the policy of a key service', () => {
  it('is refused by name in another encoding', async () => {
    const path = await fileWith(latin1('allow: [/v1/status/ä]'));
    await expect(runCommand(['policy', 'create', 'new', path])).rejects.toThrow(
      `cannot read the policy ${path}: it is not UTF-8`,
    );
  });
});

describe('the variables of a command of the key service', () => {
  it('end before a CR and a blank', async () => {
    const environment = { KEYSVC_CLIENT_KEY: '/none/key \r\n', KEYSVC_CLIENT_CERT: '/none/cert\r' };
    await expect(runCommand(['key', 'ls'], { environment })).rejects.toThrow(/\/none\/(?:key|cert):/);
  });
});

async function manifestsOf(content: string | Buffer): Promise<ManifestFolder> {
  const own = await mkdtemp(join(folder, 'manifests-'));
  await writeFile(join(own, 'a.yaml'), content);
  const manifests = new ManifestFolder(own);
  await manifests.read();
  return manifests;
}

describe('the manifests of a folder', () => {
  const manifest = 'apiVersion: coffer.dev/v1alpha1\nkind: Tenant\nmetadata:\n  name: a\nspec: {image: good}\n';

  it('are read with the mark and the line ends of Windows', async () => {
    const manifests = await manifestsOf(`${bom}${manifest.replaceAll('\n', '\r\n')}`);
    expect(manifests.problems).toEqual([]);
    expect(manifests.resources.tenants.get('a')?.spec.image).toBe('good');
  });

  it('are refused by name in another encoding', async () => {
    const manifests = await manifestsOf(latin1(`# für a\n${manifest}`));
    expect(manifests.problems).toEqual(['a.yaml: it is not UTF-8: save it in that encoding']);
  });

  it('keep what a file had before it was saved in another encoding', async () => {
    const own = await mkdtemp(join(folder, 'manifests-'));
    await writeFile(join(own, 'a.yaml'), manifest);
    const manifests = new ManifestFolder(own);
    await manifests.read();
    await writeFile(join(own, 'a.yaml'), latin1(`# für a\n${manifest}`));
    await manifests.read();
    expect(manifests.resources.tenants.get('a')?.spec.image).toBe('good');
    expect(manifests.resources.invalid.get('Tenant/a')).toContain('it is not UTF-8');
  });

  it('have Secrets without a mark and a line end, and none in another encoding', async () => {
    const own = await mkdtemp(join(folder, 'secrets-'));
    await mkdir(join(own, 's'));
    await writeFile(join(own, 's', 'key'), `${bom}${secret}\r\n`);
    const manifests = new ManifestFolder(folder, [], own);
    await manifests.read();
    expect(manifests.resources.secrets.get('s')?.data).toEqual({ key: secret });
    await writeFile(join(own, 's', 'key'), latin1(secret));
    await expect(manifests.read()).rejects.toThrow(
      `the secret ${join(own, 's', 'key')} cannot be read: it is not UTF-8`,
    );
  });
});

describe('secrets that the server reads again', () => {
  it('are the password of a database without the end of its line', async () => {
    const refusal = Object.assign(new DatabaseError('refused', 0, 'error'), { code: '28P01' });
    const used: (string | undefined)[] = [];
    const open = (password: string | undefined) => {
      used.push(password);
      return password === secret ? Promise.resolve('open') : Promise.reject(refusal);
    };
    expect(await new RolePassword('old', await fileWith(`${bom}${secret}\r\n`)).with(open)).toBe('open');
    await expect(new RolePassword('old', await fileWith(latin1(secret))).with(open)).rejects.toBe(refusal);
    expect(used).toEqual(['old', secret, 'old']);
  });

  it('are the former root credentials without a mark', async () => {
    const former = createFormerRoot(await fileWith(`${bom}root\r\n${secret}\r\n`), () => new Date(0));
    expect(await former('root')).toMatchObject({ secretKey: secret });
  });

  it('are the tokens of a provider, of a pod and of an alias, without a mark', async () => {
    const tokenFile = await fileWith(`${bom}a.b.c \r\n`, 'token');
    let sent: string | null = null;
    const fetch = bearerFetch(
      (_url, init) => {
        sent = new Headers(init?.headers).get('authorization');
        return Promise.resolve(new Response());
      },
      { tokenFile, address: 'https://provider.example.net' },
    );
    await fetch('https://provider.example.net/keys');
    expect(sent).toBe('Bearer a.b.c');
    await writeFile(tokenFile, latin1('a.ä.c'));
    await expect(fetch('https://provider.example.net/keys')).rejects.toThrow('it is not UTF-8');
    await fileWith('authority', 'ca.crt');
    await fileWith(`${bom}own\r\n`, 'namespace');
    await writeFile(tokenFile, `${bom}a.b.c\n`);
    const connection = await inCluster({ environment: { KUBERNETES_SERVICE_HOST: 'h' }, folder });
    expect([connection.namespace, await connection.authorization()]).toEqual(['own', 'Bearer a.b.c']);
  });
});

describe('the settings of the client', () => {
  it('are read with a mark and a CR', async () => {
    const path = await fileWith(`${bom}MC_HOST_one=http://ann:ann-secret@h1\r\n`);
    expect((await allAliases(folder, { MC_CONFIG_ENV_FILE: path })).get('one')).toMatchObject({ url: 'http://h1' });
    const own = await mkdtemp(join(folder, 'config-'));
    const config = { version: '10', aliases: { two: { url: 'http://h2', accessKey: '', secretKey: '' } } };
    await writeFile(join(own, 'config.json'), `${bom}${JSON.stringify(config)}\r\n`);
    expect((await allAliases(own, {})).get('two')).toMatchObject({ url: 'http://h2' });
  });

  it('are refused by name in another encoding', async () => {
    const path = await fileWith(latin1('MC_HOST_one=http://ann:pässword@h1'));
    await expect(allAliases(folder, { MC_CONFIG_ENV_FILE: path })).rejects.toMatchObject({
      message: `Unable to read \`${path}\``,
      cause: { message: 'it is not UTF-8: save it in that encoding' },
    });
    const variable = { MC_HOST_one: latin1('http://ann:pässword@h1').toString('utf8') };
    expect(await errorOf(run, ['alias', 'list'], variable)).toContain(
      'the environment variable MC_HOST_one has bytes that are not UTF-8',
    );
  });

  it('end before a CR in a variable', async () => {
    const env = { MC_HOST_one: 'http://ann:ann-secret@h1/\r\n', COFFER_CONFIG_DIR: `${folder}\r` };
    expect(await errorOf(run, ['alias', 'list', 'one', '--json'], env)).toContain('"URL":"http://h1"');
  });

  it('have documents without a mark, and none in another encoding', async () => {
    const path = await fileWith(`${bom}{}`);
    expect(await readDocument({ stdin: new PassThrough() }, path)).toBe('{}');
    expect(await readDocument({ stdin: Readable.from([Buffer.from(`${bom}{}`)]) }, '-')).toBe('{}');
    const other = await fileWith(latin1('{"ä":1}'));
    await expect(readDocument({ stdin: new PassThrough() }, other)).rejects.toThrow(
      `Unable to read \`${other}\`: it is not UTF-8`,
    );
    await expect(readDocument({ stdin: Readable.from([latin1('ä')]) }, '-')).rejects.toThrow('standard input');
  });
});

describe('the secret key of coffer-store', () => {
  const words = ['read-only', 'on', '--server', 'http://127.0.0.1:1', '--access-key', 'ann'];

  it('is refused by name in another encoding, or with a blank at its end', async () => {
    const path = await fileWith(latin1(secret));
    expect(await errorOf(runStoreTool, [...words, '--secret-key-file', path], {})).toContain(
      `the file of the secret key ${path} cannot be used: it is not UTF-8`,
    );
    expect(await errorOf(runStoreTool, words, { COFFER_SECRET_KEY: `${secret} ` })).toContain(
      'COFFER_SECRET_KEY begins or ends with a blank',
    );
  });
});
