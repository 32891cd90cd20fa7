import { describe, expect, it } from 'vitest';
import { filterRows, mergedRows, sortRows, type Row } from './rows.ts';

const object = (key: string, size = 0, lastModified = '2026-01-01T00:00:00.000Z'): Row => ({
  kind: 'object',
  key,
  object: { key, size, lastModified, etag: '', encrypted: false },
});
const folder = (key: string): Row => ({ kind: 'folder', key });
const keys = (rows: readonly Row[]) => rows.map(({ key }) => key);

it('merges folders and objects by their keys', () => {
  expect(keys(mergedRows(['b/', 'd/'], [object('a'), object('c'), object('e')]))).toEqual(['a', 'b/', 'c', 'd/', 'e']);
});

describe('the rows of a whole folder', () => {
  const rows = [
    object('p/ten10', 1, '2026-03'),
    object('p/Ten9', 3, '2026-01'),
    folder('p/z/'),
    object('p/b', 2, '2026-02'),
  ];
  it.each([
    ['name', false, ['p/z/', 'p/b', 'p/Ten9', 'p/ten10']],
    ['name', true, ['p/z/', 'p/ten10', 'p/Ten9', 'p/b']],
    ['size', false, ['p/z/', 'p/ten10', 'p/b', 'p/Ten9']],
    ['modified', true, ['p/z/', 'p/ten10', 'p/b', 'p/Ten9']],
  ] as const)('are sorted by %s, descending %s, folders first', (by, descending, sorted) => {
    expect(keys(sortRows(rows, { by, descending }))).toEqual(sorted);
  });

  it.each([
    ['TEN', ['p/ten10', 'p/Ten9']],
    ['p/', []],
    ['', ['p/ten10', 'p/Ten9', 'p/z/', 'p/b']],
  ])('are filtered by %j in their names, not in the folder', (contains, found) => {
    expect(keys(filterRows(rows, 'p/', contains))).toEqual(found);
  });
});
