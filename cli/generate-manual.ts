import { mkdirSync, writeFileSync } from 'node:fs';
import { manualPages } from './commands/help/manual.ts';
import { wholeProgram } from './program.ts';

// `npm run docs` runs this file. It writes the pages of the manual to dist/man, from where the package of the client takes them.

const folder = new URL('../dist/man/', import.meta.url);
const { program, version } = await wholeProgram();
mkdirSync(folder, { recursive: true });
for (const [name, text] of manualPages(program, version)) writeFileSync(new URL(name, folder), text);
