import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestBrowser, TestConsole } from '../../../test/support/console/test-console.ts';
import { listPage } from './query.ts';

async function* names(all: readonly string[]): AsyncIterable<string> {
  for (const name of all) yield await Promise.resolve(name);
}

const page = (items: readonly string[], after?: string, fits = (_name: string) => true) =>
  listPage(names(items), {
    fits,
    toRow: (name) => name.toUpperCase(),
    position: (name) => name,
    max: 2,
    ...(after === undefined ? {} : { after }),
  });

describe('a page of a list', () => {
  const all = ['a', 'b', 'c', 'd'];
  it('returns the position of the next one until the last', async () => {
    expect(await page(all)).toEqual({ rows: ['A', 'B'], next: 'b' });
    expect(await page(all, 'b')).toEqual({ rows: ['C', 'D'] });
    expect(await page(all, 'd')).toEqual({ rows: [] });
  });

  it('continues after a row that was removed meanwhile', async () => {
    expect(await page(['a', 'c', 'd'], 'b')).toEqual({ rows: ['C', 'D'] });
  });

  it('has only matching rows, and no next page without further ones', async () => {
    expect(await page(all, undefined, (name) => name < 'c')).toEqual({ rows: ['A', 'B'] });
  });
});

describe('lists of more than a page', () => {
  const document =
    '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::a/*"}]}';
  let console: TestConsole;
  let root: TestBrowser;
  /** In no order, and with letters of both cases and a sign, which stores order by their bytes. */
  const many = Array.from({ length: 430 }, (_, index) => `${'zZa~'.charAt(index % 4)}${index}`);

  beforeAll(async () => {
    console = await TestConsole.start();
    root = new TestBrowser(console.url);
    await root.signIn();
    const { identities } = console;
    for (const name of many) {
      await identities.putUser({ accessKey: `u${name}`, secretKey: 'secret-of-many' });
      await identities.addMembers(`g${name}`, [`u${name}`]);
      await identities.putPolicy(`p${name}`, document);
      await identities.createServiceAccount({ subject: { kind: 'root' }, name: `k${name}` });
    }
  }, 360_000);
  afterAll(() => console.close());

  async function pages(path: string, field: string, name: string): Promise<{ sizes: number[]; found: string[] }> {
    const found: string[] = [];
    const sizes: number[] = [];
    let after: string | undefined;
    do {
      const query = after === undefined ? '' : new URLSearchParams({ after }).toString();
      const answer = await root.send('GET', `${path}${path.includes('?') ? '&' : '?'}${query}`);
      const { [field]: rows, next } = (await answer.json()) as Record<string, unknown>;
      const page = (rows as readonly Record<string, string>[]).map((row) => row[name] ?? '');
      found.push(...page);
      sizes.push(page.length);
      after = next as string | undefined;
    } while (after !== undefined);
    return { sizes, found };
  }

  it.each([
    ['/api/users', 'users', 'name', 'u'],
    ['/api/groups', 'groups', 'name', 'g'],
    ['/api/policies?contains=p', 'policies', 'name', 'p'],
    ['/api/access-keys?of=own', 'keys', 'name', 'k'],
    ['/api/access-keys?of=all', 'keys', 'name', 'k'],
  ])('%s has each once', async (path, field, name, prefix) => {
    const { sizes, found } = await pages(path, field, name);
    expect(sizes).toEqual([200, 200, 30]);
    expect(found.toSorted()).toEqual(many.map((one) => `${prefix}${one}`).toSorted());
  });

  it('names policies in order, built-in ones among those that were saved', async () => {
    await console.identities.putPolicy('aaa', document);
    const { found } = await pages('/api/policies', 'policies', 'name');
    const bytes = found.map((name) => Buffer.from(name));
    expect(found).toEqual(bytes.toSorted((a, b) => Buffer.compare(a, b)).map(String));
    expect(found).toContain('readwrite');
  });

  it('are searched completely', async () => {
    const answer = await root.send('GET', `/api/users?contains=${encodeURIComponent('U~427')}`);
    expect(((await answer.json()) as { users: { name: string }[] }).users.map(({ name }) => name)).toEqual(['u~427']);
  });
});
