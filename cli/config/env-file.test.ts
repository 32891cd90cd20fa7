import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { allAliases } from './aliases.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-env-file-'));
  path = join(folder, 'env');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('brings aliases, which the environment overrides', async () => {
  await writeFile(
    path,
    '# of the job\nMC_HOST_one=http://ann:ann-secret@h1\n\nCOFFER_HOST_two=http://h2\r\nthree=http://h3\n',
  );
  const aliases = await allAliases(folder, { MC_CONFIG_ENV_FILE: path, MC_HOST_two: 'http://other' });
  expect(aliases.get('one')).toMatchObject({ url: 'http://h1', accessKey: 'ann', secretKey: 'ann-secret' });
  expect([aliases.get('two')?.url, aliases.get('three')?.url]).toEqual(['http://other', 'http://h3']);
});

it('is read as a shell reads it', async () => {
  const lines = [
    '  # of the job',
    'export MC_HOST_one="http://ann:a#b\'c12345@h1" # the first',
    "COFFER_HOST_two='http://h2'",
    '\texport  three=http://ann:secret#1@h3   # with a hash in its key',
  ];
  await writeFile(path, lines.join('\n'));
  const aliases = await allAliases(folder, { MC_CONFIG_ENV_FILE: path });
  expect(aliases.get('one')).toMatchObject({ url: 'http://h1', secretKey: "a#b'c12345" });
  expect(aliases.get('two')).toMatchObject({ url: 'http://h2' });
  expect(aliases.get('three')).toMatchObject({ url: 'http://h3', secretKey: 'secret#1' });
});

it.each(['MC_HOST_one="http://ann-secret', 'MC_HOST_one', 'MC_HOST_one=ann-secret', '1=http://h'])(
  'is refused with the line %s, without showing it',
  async (line) => {
    await writeFile(path, `${line}\n`);
    const read = allAliases(folder, { MC_CONFIG_ENV_FILE: path });
    await expect(read).rejects.toThrow();
    await expect(allAliases(folder, { MC_CONFIG_ENV_FILE: path })).rejects.not.toThrow('ann-secret');
  },
);

it('must exist', async () => {
  await expect(allAliases(folder, { COFFER_CONFIG_ENV_FILE: path })).rejects.toThrow('Unable to read');
});

it('may be used with a token for an alias', async () => {
  await writeFile(path, 'MC_HOST_one=http://h1\n');
  const env = {
    MC_CONFIG_ENV_FILE: path,
    MC_STS_ENDPOINT_one: 'http://sts',
    MC_WEB_IDENTITY_TOKEN_FILE_one: '/token',
    MC_ROLE_ARN_one: 'arn:minio:iam:::role/r',
  };
  const webIdentity = {
    endpoint: 'http://sts',
    tokenFile: '/token',
    roleArn: 'arn:minio:iam:::role/r',
    sessionName: 'coffer',
  };
  expect((await allAliases(folder, env)).get('one')).toMatchObject({ webIdentity });
  const { MC_WEB_IDENTITY_TOKEN_FILE_one: _, ...without } = env;
  await expect(allAliases(folder, without)).rejects.toThrow('MC_WEB_IDENTITY_TOKEN_FILE_one');
});
