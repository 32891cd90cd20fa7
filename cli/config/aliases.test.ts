import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  checkAliasName,
  checkKeys,
  checkUrl,
  type Alias,
  findAlias,
  allAliases,
  deleteAlias,
  foreignFields,
  readAliases,
  storedAlias,
  writeAlias,
  aliasFromEnvironment,
  readingOfKeys,
} from './aliases.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-config-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const alias: Alias = { url: 'https://s3.example:9000', accessKey: 'ak', secretKey: 'sk', api: 'S3v4', path: 'auto' };

const { signal } = new AbortController();

async function write(name: string, written: Alias): Promise<void> {
  await writeAlias({ folder, signal }, name, written);
}

describe('config.json', () => {
  it('is only for its owner, and in version 10', async () => {
    const inner = join(folder, 'new');
    await writeAlias({ folder: inner, signal }, 'a', alias);
    expect((await stat(inner)).mode & 0o777).toBe(0o700);
    expect((await stat(join(inner, 'config.json'))).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(join(inner, 'config.json'), 'utf8'))).toMatchObject({
      version: '10',
      aliases: { a: alias },
    });
    expect(await readdir(inner)).toEqual(['config.json']);
  });

  it('reads what it wrote', async () => {
    await write('a', { ...alias, sessionToken: 't', path: 'off' });
    expect((await readAliases(folder)).get('a')).toEqual({ ...alias, sessionToken: 't', path: 'off' });
  });

  it('has the alias local while there is no file', async () => {
    expect([...(await readAliases(folder)).keys()]).toEqual(['local']);
  });

  it('has all aliases that are written at once, and none that are removed at once', async () => {
    const names = Array.from({ length: 8 }, (_, at) => `a${at}`);
    await Promise.all(names.map(async (name) => write(name, alias)));
    expect([...(await readAliases(folder)).keys()].toSorted()).toEqual([...names, 'local']);
    await Promise.all(names.map(async (name) => deleteAlias({ folder, signal }, name)));
    expect([...(await readAliases(folder)).keys()]).toEqual(['local']);
  });

  it('keeps what other clients wrote, of the file, of other aliases and of the alias itself', async () => {
    const old = { ...alias, api: 'S3v2', license: 'L', accessKey: 'old', sessionToken: 't' };
    const config = { version: '10', theme: 'dark', aliases: { a: old, b: { ...old, apiKey: 'K' } } };
    await writeFile(join(folder, 'config.json'), JSON.stringify(config));
    await write('a', alias);
    expect(JSON.parse(await readFile(join(folder, 'config.json'), 'utf8'))).toEqual({
      ...config,
      aliases: { ...config.aliases, a: { ...alias, license: 'L' } },
    });
    expect(foreignFields(await storedAlias(folder, 'b'))).toEqual({ license: 'L', apiKey: 'K' });
    expect((await readAliases(folder)).get('b')?.api).toBe('S3v2');
    await deleteAlias({ folder, signal }, 'a');
    expect(JSON.parse(await readFile(join(folder, 'config.json'), 'utf8'))).toEqual({
      ...config,
      aliases: { b: config.aliases.b },
    });
  });

  it('is not written where it cannot be read', async () => {
    await writeFile(join(folder, 'config.json'), '{"version":"11"}');
    await expect(write('a', alias)).rejects.toThrow('has the version "11"');
    expect(await readFile(join(folder, 'config.json'), 'utf8')).toBe('{"version":"11"}');
  });

  it('says of an alias that is unknown which one is meant', async () => {
    await expect(deleteAlias({ folder, signal }, 'locl')).rejects.toThrow('did you mean `local`?');
    await expect(deleteAlias({ folder, signal }, 'constructor')).rejects.toThrow('No such alias');
  });

  it.each([
    ['{', 'not valid JSON'],
    ['{"version":"9","aliases":{}}', 'has the version "9"'],
    ['[]', 'has the version undefined'],
    ['{"version":"10","aliases":{"a":{"url":7}}}', 'the field "url" of the alias `a`'],
  ])('that holds %s is refused', async (text, message) => {
    await writeFile(join(folder, 'config.json'), text);
    await expect(readAliases(folder)).rejects.toThrow(message);
  });
});

describe('the environment', () => {
  it.each<[string, Partial<Alias>]>([
    ['http://ak:sk@h:9000', { url: 'http://h:9000', accessKey: 'ak', secretKey: 'sk' }],
    ['https://ak:sk:token@h', { url: 'https://h', sessionToken: 'token' }],
    ['http://h', { accessKey: '', secretKey: '' }],
    ['http://ak:s@k@h', { secretKey: 's@k' }],
    ['http://ak:s%k@h', { secretKey: 's%k' }],
    ['http://ak:s%3Ak%40@h', { secretKey: 's:k@' }],
    ['http://ak:sk@h/', { url: 'http://h' }],
  ])('%s defines an alias', (value, expected) => {
    expect(aliasFromEnvironment('a', { MC_HOST_a: value })).toMatchObject(expected);
  });

  it.each([
    ['http://ak:a%2Fb@h', /^the keys of MC_HOST_a were percent-decoded: .* write each % as %25$/],
    ['http://ak:a%20b@h', /^the keys of MC_HOST_a were taken as they are: /],
  ])('tells of %s how its keys are read', (value, says) => {
    expect(readingOfKeys('a', { MC_HOST_a: value })).toMatch(says);
  });

  it.each(['http://ak:a/b+c@h', 'http://ak:100%@h', 'http://h/%2F', ''])('has one reading of %j', (value) => {
    expect(readingOfKeys('a', { MC_HOST_a: value })).toBeUndefined();
  });

  it.each(['h:9000', 'ftp://ak:sk@h', 'http://a:b:c:d@h', 'http://ak:%3A%zz@h'])(
    '%s is refused without showing it',
    (value) => {
      const read = () => aliasFromEnvironment('a', { COFFER_HOST_a: value });
      expect(read).toThrow('COFFER_HOST_a');
      expect(read).not.toThrow(value);
    },
  );

  it('wins over the file', async () => {
    await write('a', alias);
    await deleteAlias({ folder, signal }, 'local');
    const env = { COFFER_HOST_a: 'http://x:y@one', MC_HOST_a: 'http://x:y@two', MC_HOST_b: 'http://x:y@three' };
    const urls = [...(await allAliases(folder, env))].map(([name, { url }]) => [name, url]);
    expect(urls).toEqual([
      ['a', 'http://one'],
      ['b', 'http://three'],
    ]);
  });
});

describe('what a person gives', () => {
  it.each(['1a', 'a.b', '', 'a/b', '-a'])('"%s" is no name, and the rule is shown', (name) => {
    expect(() => checkAliasName(name)).toThrow('begins with a letter');
  });

  it.each(['a', 'my-alias_1'])('"%s" is a name', (name) => {
    checkAliasName(name);
  });

  it.each(['h:9000', 'ftp://h', 'http://h/path', 'http://u:p@h', 'http://h?x'])('%s is no URL of a server', (url) => {
    expect(() => checkUrl(url)).toThrow('Invalid URL');
  });

  it('a URL loses its slash', () => {
    expect(checkUrl('http://h:9000/')).toBe('http://h:9000');
  });

  it('keys are long enough, or both empty', () => {
    checkKeys('', '');
    expect(() => checkKeys('ab', 'long-enough')).toThrow('at least 3');
    expect(() => checkKeys('abc', 'secret-')).toThrow('at least 8');
    expect(() => checkKeys('abc', 'secret-')).not.toThrow('secret-');
  });

  it('an alias that is unknown is answered with those that are', () => {
    expect(() => findAlias(new Map([['a', alias]]), 'b')).toThrow('known are `a`');
  });
});
