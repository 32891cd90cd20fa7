// `npm run counts [-- FOLDER] [--files]`: how large the sources of a checkout are, how many files a request enters, and how plain the words
// are. With --files, the files that a PUT and a HEAD enter.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { enteredFiles } from './entered-files.ts';
import { countWords } from './plain-words.ts';
import { countExports, countSizes, errorClasses, isProduct, largeFolders, readSources } from './source-counts.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { files: { type: 'boolean' } } });
const checkout = resolve(positionals[0] ?? '.');
const sources = readSources(checkout);
const product = sources.filter(isProduct);
const entered = await enteredFiles(checkout);

for (const [name, of] of [
  ['Product', product],
  ['All', sources],
] as const) {
  const { files, lines, median, p90, small } = countSizes(of);
  print(`${name}: source files`, files);
  print(`${name}: lines`, lines);
  print(`${name}: lines of a file, median and p90`, `${median} and ${p90}`);
  print(`${name}: files of 12 lines or fewer`, small);
}
const large = largeFolders(product, 25);
print('Folders of more than 25 entries', large.length === 0 ? 0 : `${large.length}: ${large.join(', ')}`);
const exports = [...countExports(product).values()];
const sum = (of: (count: (typeof exports)[number]) => number) => exports.reduce((total, count) => total + of(count), 0);
print('Folders', exports.length);
print('Exports of a folder, mean', (sum((count) => count.exports) / exports.length).toFixed(1));
print('Exports of a folder that another imports, mean', (sum((count) => count.outside) / exports.length).toFixed(1));
print(
  'Exports',
  sum((count) => count.exports),
);
print('Error classes', errorClasses(product).length);
const words = countWords(product);
print('Comments', words.comments);
print('Comments without a subject', words.headless);
print('Comments with an unclear word', words.unclear);
const names = [...words.names].sort(([, a], [, b]) => b - a);
print(
  'Words of the glossary in names',
  names.reduce((total, [, count]) => total + count, 0),
);
print(
  'The most frequent of them',
  names
    .slice(0, 8)
    .map(([word, count]) => `${word} ${count}`)
    .join(', '),
);
print('Files that a PUT of 1 KiB enters', entered.put.length);
print('Files that a HEAD enters', entered.head.length);
if (values.files === true) {
  for (const [method, files] of [
    ['PUT', entered.put],
    ['HEAD', entered.head],
  ] as const) {
    console.log([`\n${method}:`, ...files].join('\n  '));
  }
}

function print(name: string, value: number | string): void {
  console.log(`${name.padEnd(52)} ${value}`);
}
