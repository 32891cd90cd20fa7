import { expect, it } from 'vitest';
import { unusedExports } from './unused-exports.ts';

const used = { path: 'a.ts', text: 'export function used() {}\nexport const alone = 1;\nexport interface Shown {}\n' };

it('names an export that no other file names', () => {
  const other = {
    path: 'b.test.ts',
    text: "import { used } from './a.ts';\nconst { Shown } = await import('./a.ts');\n",
  };
  expect(unusedExports([used], [used, other])).toEqual(['a.ts: alone']);
});

const alone = (text: string) => unusedExports([{ path: 'a.ts', text }], [{ path: 'a.ts', text }]);

it('does not name what is exported as default, or not at all', () => {
  expect(alone('export default {};\nfunction hidden() {}\n')).toEqual([]);
  expect(alone("function hidden() {}\nexport { hidden as default };\nexport * from './b.ts';\n")).toEqual([]);
});

it.each([
  ['a list, by the exported names', 'export { a, b as c };', ['a', 'c']],
  ['a list of several lines', 'export {\n  a, // the first\n  /* the second */ b as c,\n};', ['a', 'c']],
  ['a list of types', 'export type { A, B as C };\nexport { type D, type E as F };', ['A', 'C', 'D', 'F']],
  ['a list of another file', "export { a } from './b.ts';\nexport type { B } from './b.ts';", ['a', 'B']],
  ['another file under a name', "export * as all from './b.ts';", ['all']],
  ['let and var', 'export let a = 1;\nexport var b = 1;', ['a', 'b']],
  ['an enum of constants', 'export const enum Kind { a }', ['Kind']],
  ['a declaration', 'export declare const a: 1;\nexport declare abstract class B {}', ['a', 'B']],
  ['a generator', 'export function* a() {}\nexport function *b() {}\nexport async function* c() {}', ['a', 'b', 'c']],
  ['a pattern', 'export const { a, b: c } = x;\nexport const [d] = y;', ['a', 'c', 'd']],
])('sees %s', (_, text, names) => {
  expect(alone(text)).toEqual(names.map((name) => `a.ts: ${name}`));
});

it('names what a list hands on from its owner, where no third file names it', () => {
  const list = { path: 'a.ts', text: "export { a } from './b.ts';\nexport type { Of as Off } from './b.ts';\n" };
  const owner = { path: 'b.ts', text: 'export const a = 1;\nexport interface Of {}\n' };
  const user = { path: 'c.ts', text: "import { a, type Off } from './a.ts';\n" };
  expect(unusedExports([list, owner], [list, owner])).toEqual(['a.ts: a', 'a.ts: Off']);
  expect(unusedExports([list, owner], [list, owner, user])).toEqual([]);
});
