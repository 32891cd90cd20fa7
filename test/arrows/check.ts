// `npm run arrows`: every import of every room, held against `arrows.ts`. Exits 1 and lists those that point the wrong way.
import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { forbidden, relativeImports, roomOf } from './arrows.ts';

const files = globSync('{protocol,platform,keysvc,operator,cli,server}/**/*.{ts,tsx}').filter(
  (file) => roomOf(file) !== undefined,
);
const wrong = files.flatMap((file) =>
  relativeImports(readFileSync(file, 'utf8')).flatMap(
    (path) => forbidden(file, posix.join(posix.dirname(file), path)) ?? [],
  ),
);
for (const line of wrong) process.stderr.write(`${line}\n`);
process.stdout.write(`${files.length} files, ${wrong.length} imports against the arrows\n`);
process.exitCode = wrong.length === 0 ? 0 : 1;
