import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { fullForm } from '../support/full-form.ts';
import { enteredFiles } from './entered-files.ts';
import { commentsOf, countWords } from './plain-words.ts';
import { countExports, countSizes, errorClasses, largeFolders } from './source-counts.ts';

/** The most source files that a reader of one request has to open. Lower them when files are merged. */
const limits = { put: 40, head: 30 } as const;

// The gate starts a server from its sources, with the coverage of V8.
it.runIf(fullForm)(
  'a PUT and a HEAD enter few source files',
  async () => {
    const { put, head } = await enteredFiles(fileURLToPath(new URL('../..', import.meta.url)));
    expect(put).toContain('server/s3/object/put-object.ts');
    expect(head).toContain('server/s3/object/read-object.ts');
    expect(put.length).toBeLessThanOrEqual(limits.put);
    expect(head.length).toBeLessThanOrEqual(limits.head);
  },
  240_000,
);

it('counts lines, small files and the entries of folders', () => {
  const sources = [1, 12, 13, 100].map((lines) => ({ path: `a/b/${lines}.ts`, text: 'x\n'.repeat(lines) }));
  expect(countSizes(sources)).toEqual({ files: 4, lines: 126, median: 12, p90: 100, small: 2 });
  expect(largeFolders(sources, 3)).toEqual(['a/b (4)']);
  expect(largeFolders(sources, 4)).toEqual([]);
});

it('counts the exports of a folder, and those that another folder imports', () => {
  const sources = [
    { path: 'a/one.ts', text: 'export function f() {}\nexport interface I {}\nexport const c = 1;\n' },
    { path: 'a/two.ts', text: "import { c } from './one.ts';\n" },
    { path: 'b/three.ts', text: "import { type I, f as g } from '../a/one.ts';\nexport class C {}\n" },
  ];
  expect([...countExports(sources)]).toEqual([
    ['a', { exports: 3, outside: 2 }],
    ['b', { exports: 1, outside: 0 }],
  ]);
});

it('finds the classes that descend from Error', () => {
  const text = 'class A extends Error {}\nclass B extends A {}\nclass C extends Map {}\nclass D extends C {}\n';
  expect(errorClasses([{ path: 'a.ts', text }])).toEqual(['A', 'B']);
});

it('joins the lines of a comment', () => {
  const text = '/**\n * One\n * two.\n */\nconst url = "http://x"; // three\nx();\n  // four\n  // five\n';
  expect(commentsOf(text)).toEqual(['One two.', 'three', 'four five']);
});

it('counts comments without a subject and words of the glossary in names', () => {
  const text = "/** What it is. */\nconst mostKept = 'patience'; // tells somebody\nfunction pourPieces() {}\n";
  const { comments, headless, unclear, names } = countWords([{ path: 'a.ts', text }]);
  expect({ comments, headless, unclear }).toEqual({ comments: 2, headless: 1, unclear: 1 });
  expect(Object.fromEntries(names)).toEqual({ most: 1, pour: 1, pieces: 1 });
});

it('counts no words of messages as names, but the names in them', () => {
  const text = 'const message = `at most ${shown(maxPieces, { seat: `a lost ${seats}` })} people`;';
  const { names } = countWords([{ path: 'a.ts', text }]);
  expect(Object.fromEntries(names)).toEqual({ pieces: 1, seat: 1, seats: 1 });
});
