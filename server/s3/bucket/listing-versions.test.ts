import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { testCalls, type TestCalls } from '../../../test/support/s3-api/s3-calls.ts';
import { put } from '../../../test/support/objects/test-layer.ts';

const md5 = (text: string) => createHash('md5').update(text).digest('base64');
const KEYS = 250;
const VERSIONS = 5;

/** Keys that XML and URLs write in another way, among many others. */
const odd = ['a b', 'a&b', 'a+b', 'dir/a', 'dir/b/c', 'dir/ü', 'z%2F'];
const names = [...odd, ...Array.from({ length: KEYS - odd.length }, (_, at) => `many/${String(at).padStart(4, '0')}`)];
let test: TestCalls;
/** All versions, in the order of a listing. */
let all: readonly string[];
/** False after a test that removes versions. */
let isFilled = false;

/** 1,250 versions; of every tenth key the newest is a delete marker. */
beforeEach(async () => {
  if (isFilled) return;
  isFilled = true;
  test = await testCalls();
  await test.layer.putBucketVersioning('bucket', { status: 'Enabled' });
  for (let version = 0; version < VERSIONS; version += 1) {
    for (const [at, key] of names.entries()) {
      if (version === VERSIONS - 1 && at % 10 === 0) await test.layer.deleteObject('bucket', key);
      else await test.layer.putObject(put('bucket', key, ''));
    }
  }
  const request = { bucket: 'bucket', prefix: '', delimiter: '', keyMarker: '', limit: 10_000 };
  const { versions } = await test.layer.listObjectVersions(request);
  all = versions.map(({ key, versionId }) => `${key} ${versionId}`);
});

interface Page {
  /** `KEY VERSION` of versions and markers, and common prefixes, in the order of the document. */
  readonly items: readonly string[];
  readonly next: { readonly keyMarker: string; readonly versionIdMarker: string } | undefined;
}

const unescaped = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#13;', '\r')
    .replaceAll('&amp;', '&');

async function page(query: Readonly<Record<string, string>>): Promise<Page> {
  const parameters = Object.entries(query).map(([name, value]) => `&${name}=${encodeURIComponent(value)}`);
  const { status, body } = await test.call('GET', `/bucket?versions${parameters.join('')}`);
  expect(status, body).toBe(200);
  const text = (element: string, within = body) => {
    const found = unescaped(new RegExp(`<${element}>(.*?)</${element}>`, 's').exec(within)?.[1] ?? '');
    const isName = ['Key', 'NextKeyMarker', 'Prefix'].includes(element);
    return isName && query['encoding-type'] === 'url' ? decodeURIComponent(found.replaceAll('+', ' ')) : found;
  };
  const elements = body.matchAll(/<(Version|DeleteMarker|CommonPrefixes)>(.*?)<\/\1>/gs);
  const items = Array.from(elements, ([, element, content = '']) =>
    element === 'CommonPrefixes' ? text('Prefix', content) : `${text('Key', content)} ${text('VersionId', content)}`,
  );
  const next = { keyMarker: text('NextKeyMarker'), versionIdMarker: text('NextVersionIdMarker') };
  return { items, next: text('IsTruncated') === 'true' ? next : undefined };
}

async function pages(query: Readonly<Record<string, string>>): Promise<string[][]> {
  const found: string[][] = [];
  for (let next: Page['next'] = { keyMarker: '', versionIdMarker: '' }; next !== undefined;) {
    const markers: Record<string, string> = {
      ...(next.keyMarker !== '' && { 'key-marker': next.keyMarker }),
      ...(next.versionIdMarker !== '' && { 'version-id-marker': next.versionIdMarker }),
    };
    const read: Page = await page({ ...query, ...markers });
    found.push([...read.items]);
    ({ next } = read);
    if (found.length > 2_000) throw new Error('the listing does not end');
  }
  return found;
}

const grouped = (prefix: string) => {
  const items = all
    .filter((item) => item.startsWith(prefix))
    .map((item) => {
      const at = item.indexOf('/', prefix.length);
      return at < 0 ? item : item.slice(0, at + 1);
    });
  return [...new Set(items)];
};

describe('a listing of 1,250 versions', () => {
  it('has at most 1,000 in a page', async () => {
    const found = await pages({});
    expect(found.map(({ length }) => length)).toEqual([1_000, 250]);
    expect(found.flat()).toEqual(all);
    expect((await page({ 'max-keys': '5000' })).items).toHaveLength(1_000);
  });

  it.each([1, 4, 5, 7, 250, 999])('has each version once in pages of %i', async (size) => {
    const found = await pages({ 'max-keys': String(size), ...(size < 5 && { prefix: 'many/000' }) });
    expect(found.flat()).toEqual(size < 5 ? all.filter((item) => item.startsWith('many/000')) : all);
    expect(found.slice(0, -1).every(({ length }) => length === size)).toBe(true);
  });

  it.each([
    ['', 1],
    ['', 3],
    ['dir/', 1],
    ['dir/', 2],
    ['many/', 100],
  ])('groups by a delimiter below "%s" in pages of %i, encoded and not', async (prefix, size) => {
    const encodings: readonly Readonly<Record<string, string>>[] = [{}, { 'encoding-type': 'url' }];
    for (const encoding of encodings) {
      const asked = { delimiter: '/', 'max-keys': String(size), ...(prefix !== '' && { prefix }), ...encoding };
      const found = (await pages(asked)).flat();
      expect(found.toSorted()).toEqual(grouped(prefix).toSorted());
      expect(new Set(found).size).toBe(found.length);
    }
  });

  it.each(names.slice(0, odd.length + 2))('begins after the key "%s", or after one of its versions', async (key) => {
    const own = all.filter((item) => item.startsWith(`${key} `));
    const after = all.slice(all.indexOf(own.at(-1) ?? '') + 1);
    expect((await page({ 'key-marker': key, 'max-keys': '9' })).items).toEqual(after.slice(0, 9));
    for (const [at, item] of own.entries()) {
      const markers = { 'key-marker': key, 'version-id-marker': item.slice(key.length + 1), 'max-keys': '9' };
      expect((await page(markers)).items).toEqual([...own.slice(at + 1), ...after].slice(0, 9));
    }
  });

  it('begins after a common prefix, between keys, after the last key, and after a version that was removed', async () => {
    const behind = await page({ delimiter: '/', 'key-marker': 'dir/', 'max-keys': '2' });
    expect(behind.items.map((item) => item.split(' ')[0])).toEqual(['z%2F', 'many/']);
    const between = all.slice(all.findIndex((item) => item.startsWith('many/0010 ')));
    expect((await page({ 'key-marker': 'many/0009x', 'max-keys': '3' })).items).toEqual(between.slice(0, 3));
    expect(await page({ 'key-marker': 'zzz' })).toEqual({ items: [], next: undefined });
    const [newest = '', second = '', third = ''] = all.filter((item) => item.startsWith('many/0011 '));
    const versionId = second.slice('many/0011 '.length);
    isFilled = false;
    await test.layer.deleteObject('bucket', 'many/0011', { versionId });
    const removed = { 'key-marker': 'many/0011', 'version-id-marker': versionId, 'max-keys': '1' };
    expect((await page(removed)).items).toEqual([third]);
    expect(newest).not.toBe(second);
  });
});

const document = (items: readonly string[], quiet = false) => {
  const objects = items.map((item) => {
    const [key = '', versionId = ''] = item.split(' ');
    return `<Object><Key>${key}</Key><VersionId>${versionId}</VersionId></Object>`;
  });
  return `<Delete>${quiet ? '<Quiet>true</Quiet>' : ''}${objects.join('')}</Delete>`;
};
const remove = (body: string) => {
  isFilled = false;
  return test.call('POST', '/bucket?delete', { body, headers: { 'content-md5': md5(body) } });
};

describe('DeleteObjects', () => {
  it('removes 1,000 versions and markers in one request, and refuses 1,001', async () => {
    const many = all.filter((item) => item.startsWith('many/'));
    const rejected = await remove(document(many.slice(0, 1_001)));
    expect([rejected.status, rejected.code]).toEqual([400, 'MalformedXML']);
    const removed = await remove(document(many.slice(0, 1_000)));
    expect(removed.status).toBe(200);
    expect(removed.body.match(/<Deleted>/g)).toHaveLength(1_000);
    expect(removed.body).not.toContain('<Error>');
    expect(removed.body).toContain('<DeleteMarker>true</DeleteMarker><DeleteMarkerVersionId>');
    const left = await pages({ prefix: 'many/' });
    expect(left.flat()).toEqual(many.slice(1_000));
  });

  it('says nothing of what it removed when it is quiet', async () => {
    const [first = '', ...rest] = (await pages({ prefix: 'dir/a' })).flat();
    const { body } = await remove(document([first], true));
    expect(body).not.toContain('<Deleted>');
    expect((await pages({ prefix: 'dir/a' })).flat()).toEqual(rest);
  });
});
