import { describe, expect, it } from 'vitest';
import { isTest, relativeImports } from './arrows.ts';
import { compareKnots, knotsOf, textOf } from './knots.ts';
import type { Import } from './knots.ts';

const down: readonly Import[] = [
  ['server/objects/operations/put-object.ts', 'server/objects/commit/commit-change.ts'],
  ['server/objects/operations/put-object.ts', 'server/objects/records/object-record.ts'],
  ['server/objects/commit/commit-change.ts', 'server/objects/records/object-record.ts'],
  ['server/objects/records/object-record.ts', 'server/objects/records/bucket-record.ts'],
];

const planted: Import = ['server/objects/records/object-record.ts', 'server/objects/operations/put-object.ts'];

const lines = (imports: readonly Import[]): string[] => knotsOf(imports).map(textOf);

describe('knots of folders', () => {
  it('finds none where all imports point down', () => {
    expect(lines(down)).toEqual([]);
  });

  it('finds a circle of several folders that one import closes', () => {
    expect(lines([...down, planted])).toEqual(['server/objects: commit, operations, records']);
  });

  it('finds two folders of which no file is in a circle', () => {
    expect(
      lines([
        ['cli/commands/data/copy/a.ts', 'cli/commands/data/changes/b.ts'],
        ['cli/commands/data/changes/c.ts', 'cli/commands/data/copy/d.ts'],
      ]),
    ).toEqual(['cli/commands/data: changes, copy']);
  });

  it('finds a folder whose own files and a folder below import each other', () => {
    expect(
      lines([
        ['server/store/keys.ts', 'server/store/lmdb/read.ts'],
        ['server/store/lmdb/write.ts', 'server/store/store-error.ts'],
      ]),
    ).toEqual(['server/store: ., lmdb']);
  });

  it('counts folders with all below them, at each height where they part', () => {
    expect(
      lines([
        ['server/s3/object/get.ts', 'server/auth/access.ts'],
        ['server/auth/identities/users.ts', 'server/s3/routes.ts'],
      ]),
    ).toEqual(['server: auth, s3']);
  });

  it('counts types and `import()`', () => {
    expect(relativeImports(`import type { A } from './a.ts';`)).toEqual(['./a.ts']);
    expect(relativeImports(`type B = import('./b.ts').B;`)).toEqual(['./b.ts']);
    expect(relativeImports(`await import('./c.ts');`)).toEqual(['./c.ts']);
  });

  it.each(['server/s3/routes.test.ts', 'server/store/lmdb/store.conformance.ts', 'server/http/testing-answers.ts'])(
    'leaves the test %s out',
    (path) => {
      expect(isTest(path)).toBe(true);
    },
  );
});

describe('the list of known knots', () => {
  const found = knotsOf([...down, planted]);

  it('lets a known knot be', () => {
    expect(compareKnots(found, ['server/objects: commit, operations, records'])).toEqual([]);
  });

  it('refuses a planted knot', () => {
    expect(compareKnots(found, [])).toEqual([
      'new knot: server/objects: commit, operations, records: let these imports point one way',
    ]);
  });

  it('refuses a line whose knot is gone', () => {
    expect(compareKnots(knotsOf(down), ['server/objects: commit, operations, records'])).toEqual([
      'this knot is gone, take it off the list: server/objects: commit, operations, records',
    ]);
  });

  it('refuses a knot that grew', () => {
    expect(compareKnots(found, ['server/objects: commit, operations'])).toHaveLength(2);
  });
});
