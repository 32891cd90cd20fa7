// `npm run arrows`: every import of every room, held against `arrows.ts`, and the knots of folders, held against `known-knots.ts`. Exits 1
// and lists the imports that point the wrong way, the new knots, the known ones that are gone, and the exports that no other file names.
import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { forbidden, isTest, relativeImports, roomOf } from './arrows.ts';
import { compareKnots, knotsOf } from './knots.ts';
import type { Import } from './knots.ts';
import { knownKnots } from './known-knots.ts';
import { unusedExports } from './unused-exports.ts';

const files = globSync('{protocol,platform,keysvc,operator,cli,server,console}/**/*.{ts,tsx}').filter(
  (file) => roomOf(file) !== undefined,
);
const read = (path: string) => ({ path, text: readFileSync(path, 'utf8') });
const sources = files.map(read);
const others = globSync('{test,bench,bin,examples,deploy,.ci}/**/*.{ts,tsx,js,html}').map(read);
const exports = unusedExports(
  sources.filter(({ path }) => !isTest(path)),
  [...sources, ...others],
).map((line) => `${line} is exported, and no other file names it`);
const imports = sources.flatMap(({ path: file, text }) =>
  relativeImports(text).map((path): Import => [file, posix.join(posix.dirname(file), path)]),
);
const knots = knotsOf(imports.filter(([from]) => !isTest(from)));
const wrong = [
  ...imports.flatMap(([from, to]) => forbidden(from, to) ?? []),
  ...compareKnots(knots, knownKnots),
  ...exports,
];
for (const line of wrong) process.stderr.write(`${line}\n`);
const folders = knots.reduce((sum, { entries }) => sum + entries.length, 0);
process.stdout.write(
  `${files.length} files, ${knots.length} known knots of ${folders} folders, ${wrong.length} lines against the arrows\n`,
);
process.exitCode = wrong.length === 0 ? 0 : 1;
