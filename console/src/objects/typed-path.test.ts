import { describe, expect, it } from 'vitest';
import { nameIn } from '../components/urls.ts';
import { parsePath, pathUrl, resolvePath } from './typed-path.ts';

const buckets = ['photos', 'research'];

/** The page that opens from the bucket `photos`. */
function opened(typed: string): string {
  const path = parsePath(typed, 'photos');
  return pathUrl(resolvePath(path, 'photos', path.kind === 'unclear' && buckets.includes(path.bucket)));
}

/** The page without its encoding. */
function parts(url: string): readonly (string | null)[] {
  const { pathname, searchParams } = new URL(url, 'http://console');
  return [pathname, searchParams.get('prefix'), searchParams.get('object')];
}

describe('a typed path', () => {
  it.each([
    ['photos/', '/buckets/photos', null, null],
    ['photos', '/buckets/photos', null, null],
    ['photos/a.txt', '/buckets/photos', null, 'a.txt'],
    ['photos/deep/er/a.txt', '/buckets/photos', 'deep/er/', 'deep/er/a.txt'],
    ['photos/deep/er/', '/buckets/photos', 'deep/er/', null],
    ['photos//a', '/buckets/photos', '/', '/a'],
    ['research/x', '/buckets/research', null, 'x'],
    ['research', '/buckets/research', null, null],
    ['s3://other/deep/x', '/buckets/other', 'deep/', 'deep/x'],
    ['/other/x', '/buckets/other', null, 'x'],
    ['s3://', '/buckets', null, null],
    ['', '/buckets', null, null],
  ])('%j opens %s, the folder %j and the object %j', (typed, ...page) => {
    expect(parts(opened(typed))).toEqual(page);
  });

  it.each([
    ['a.txt', null, 'a.txt'],
    ['deep/er/a.txt', 'deep/er/', 'deep/er/a.txt'],
    ['deep/er/', 'deep/er/', null],
    ['50% #1 a+b?.txt', null, '50% #1 a+b?.txt'],
    ['ümlaut/日本 😀', 'ümlaut/', 'ümlaut/日本 😀'],
    ['a/../b', 'a/../', 'a/../b'],
  ])('%j without a bucket is in the bucket of the page', (typed, prefix, object) => {
    expect(parts(opened(typed))).toEqual(['/buckets/photos', prefix, object]);
  });

  it('keeps the moment at which the folders are shown', () => {
    const url = pathUrl({ kind: 'path', bucket: 'photos', key: 'a/b' }, '2026-01-01T00:00:00Z');
    expect(new URL(url, 'http://console').searchParams.get('at')).toBe('2026-01-01T00:00:00Z');
  });
});

it('shows a key whole where it is not in the folder', () => {
  expect(nameIn('alice/', 'bob/notes.md')).toBe('bob/notes.md');
});
