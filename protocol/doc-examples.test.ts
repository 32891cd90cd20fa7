import { globSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

interface Example {
  readonly name: string;
  readonly file: string;
  readonly lines: readonly string[];
}

/** Functions that other programs may reuse. Each has an example that runs. */
const reusable = [
  'signRequest',
  'presignUrl',
  'decide',
  'parsePolicyDocument',
  'crc32c',
  'hasherOf',
  'timingSafeEqual',
  'durationMs',
  'matchesStars',
  'isInRange',
  'semaphore',
  'mapLimit',
  'backoffMs',
];

const root = resolve(import.meta.dirname, '..');
const examples = globSync('{protocol,platform,keysvc}/**/*.ts', { cwd: root })
  .filter((file) => !file.endsWith('.test.ts'))
  .flatMap((file) => examplesOf(file, readFileSync(resolve(root, file), 'utf8')));

/** The examples of a file that say a value: an indented block after `@example`. */
function examplesOf(file: string, source: string): Example[] {
  const block =
    /\* @example\n((?: \* {5}.*\n)+)(?: \*(?! {5}).*\n)* ?\*?\/?(?:.*\n)??export (?:async )?function (\w+)/g;
  return [...source.matchAll(block)].map(([, text = '', name = '']) => ({
    name,
    file,
    lines: text
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(' *     '.length)),
  }));
}

let folder: string;
let modules = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doc-examples-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs a text as a module of its own. */
async function importText(text: string): Promise<Record<string, unknown>> {
  const path = join(folder, `${modules++}.mjs`);
  await writeFile(path, text);
  return (await import(/* @vite-ignore */ pathToFileURL(path).href)) as Record<string, unknown>;
}

const address = (path: string) => JSON.stringify(pathToFileURL(path).href);

interface Result {
  readonly given: unknown;
  readonly named: string;
}

/** Runs the lines, and returns what each line with a value gave, beside the value that it names. */
async function run({ file, lines }: Example): Promise<readonly Result[]> {
  const path = resolve(root, file);
  const imported = new Map(
    lines.flatMap((line) => {
      const [, name, from] = /^import \{ (\w+) \} from '(.*)';$/.exec(line) ?? [];
      return name === undefined || from === undefined ? [] : [[name, resolve(dirname(path), from)] as const];
    }),
  );
  const own = Object.keys((await import(/* @vite-ignore */ pathToFileURL(path).href)) as object);
  for (const name of own) if (!imported.has(name)) imported.set(name, path);
  const body = lines
    .filter((line) => !line.startsWith('import '))
    .map((line) =>
      line.replace(/^(.+);\s*\/\/ (.+)$/, (_, code: string, named: string) => {
        return `seen.push({ given: ${code}, named: ${JSON.stringify(named)} });`;
      }),
    );
  const imports = [...imported].map(([name, from]) => `import { ${name} } from ${address(from)};`);
  const { seen } = await importText([...imports, 'export const seen = [];', ...body].join('\n'));
  return seen as readonly Result[];
}

/** Reads a value of JavaScript; undefined where the text is the value itself. */
async function literalOf(text: string): Promise<{ readonly value: unknown } | undefined> {
  try {
    return { value: (await importText(`export const value = (${text});`))['value'] };
  } catch {
    return undefined;
  }
}

it.each(examples)('the example of $name ($file) gives what it says', async (example) => {
  const results = await run(example);
  expect(results.length).toBeGreaterThan(0);
  for (const { given, named } of results) {
    const literal = await literalOf(named);
    if (literal === undefined) expect(String(given)).toBe(named);
    else expect(given).toEqual(literal.value);
  }
});

it('every reusable function has one', () => {
  const names = examples.map(({ name }) => name);
  expect(reusable.filter((name) => !names.includes(name))).toEqual([]);
});
