/**
 * `npm run mutations`: plants defects one by one and says which of them `npm test` catches. The commit must pass without one. Each
 * runs the unit tests that import the file, nearest first, then the type check and the lint, then everything of `npm test` that imports
 * it. The results are lines of JSON; a second run with the same options goes on after the last one.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { assertPasses, failedCheck } from './checks.ts';
import type { RunProgram } from './checks.ts';
import { relatedTests } from './related-tests.ts';
import { runInGroup } from './run-in-group.ts';
import { mutantsOf, pickMutants, plant } from './mutants.ts';
import type { Mutant } from './mutants.ts';

const usage = `usage: npm run mutations [-- OPTIONS]
  --seed N         which mutants are picked, 1
  --count N        how many, 100
  --first N        the first of them to plant, 1
  --revision REV   the commit that they are planted in, HEAD
  --minutes N      begin no mutant after so many minutes, 600
  --unit           run no tests with sockets and processes: a minute or two for each mutant
  --out FILE.md    also write the report there
`;

interface Result {
  readonly mutant: Mutant;
  readonly line: number;
  readonly caught: string | undefined;
  readonly seconds: number;
}

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '100' },
    first: { type: 'string', default: '1' },
    revision: { type: 'string', default: 'HEAD' },
    minutes: { type: 'string', default: '600' },
    unit: { type: 'boolean', default: false },
    out: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}

const revision = execFileSync('git', ['rev-parse', '--short', values.revision], { encoding: 'utf8' }).trim();
const folder = resolve('.coffer/mutations', revision);
const from = values.first === '1' ? '' : `-from-${values.first}`;
const results = resolve('.coffer/mutations', `${revision}-${values.seed}${values.unit ? '-unit' : ''}${from}.jsonl`);
if (!existsSync(folder)) {
  mkdirSync(resolve('.coffer/mutations'), { recursive: true });
  execFileSync('git', ['worktree', 'add', '--force', '--detach', folder, revision], { stdio: 'ignore' });
  symlinkSync(resolve('node_modules'), resolve(folder, 'node_modules'));
  symlinkSync(resolve('dist'), resolve(folder, 'dist'));
}
// A run that was killed has left its defect.
execFileSync('git', ['-C', folder, 'checkout', '--quiet', '--force', revision]);

const files = globSync('{protocol,platform,server,keysvc,operator,cli}/**/*.ts', { cwd: folder })
  .filter((file) => !/\.test\.ts$|\.conformance\.ts$|\.d\.ts$/.test(file))
  .sort();
const text = (file: string): string => readFileSync(resolve(folder, file), 'utf8');
const all = files.flatMap((file) => mutantsOf(file, text(file)));
const picked = pickMutants(all, Number(values.count), Number(values.seed)).slice(Number(values.first) - 1);
const testsOf = relatedTests(folder);
const done: Result[] = existsSync(results)
  ? readFileSync(results, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Result)
  : [];
process.stdout.write(
  `${all.length} mutants in ${files.length} files of ${revision}; ${picked.length} picked by seed ${values.seed}, ${done.length} done\n`,
);

const passed = resolve('.coffer/mutations', `${revision}${values.unit ? '-unit' : ''}.passed`);
if (!existsSync(passed)) {
  process.stdout.write(`checking that ${revision} passes without a defect\n`);
  try {
    await assertPasses(programs(3_600_000), { revision, isUnitOnly: values.unit });
  } catch (error) {
    process.stderr.write(`mutations: ${String(error instanceof Error ? error.message : error)}\n`);
    process.exit(1);
  }
  writeFileSync(passed, '');
}

const end = Date.now() + Number(values.minutes) * 60_000;
for (const mutant of picked.slice(done.length)) {
  if (Date.now() > end) break;
  const began = Date.now();
  const before = text(mutant.file);
  writeFileSync(resolve(folder, mutant.file), plant(before, mutant));
  let caught: string | undefined;
  try {
    caught = await failedCheck(programs(900_000), {
      tests: testsOf(mutant.file),
      lint: mutant.file,
      isUnitOnly: values.unit,
    });
  } finally {
    writeFileSync(resolve(folder, mutant.file), before);
  }
  const line = before.slice(0, mutant.start).split('\n').length;
  const result = { mutant, line, caught, seconds: Math.round((Date.now() - began) / 1_000) };
  done.push(result);
  appendFileSync(results, `${JSON.stringify(result)}\n`);
  process.stdout.write(
    `${done.length} ${mutant.file}:${line} ${mutant.mutator}: ${caught ?? 'MISSED'} (${result.seconds} s)\n`,
  );
}

const report = reportOf(done);
process.stdout.write(`\n${report}`);
if (values.out !== undefined) writeFileSync(values.out, report);

/** Runs programs in the worktree of the commit. One that hangs fails: it is killed after the timeout. */
function programs(timeoutMs: number): RunProgram {
  return (program, args) => runInGroup(['bin/run.js', `node_modules/${program}`, ...args], { cwd: folder, timeoutMs });
}

function reportOf(list: readonly Result[]): string {
  const missed = list.filter(({ caught }) => caught === undefined);
  const by = Map.groupBy(list, ({ caught }) => caught ?? 'missed');
  return `# Planted defects

\`npm run mutations -- --seed ${values.seed} --count ${values.count}${values.first === '1' ? '' : ` --first ${values.first}`}${values.unit ? ' --unit' : ''}\` on ${revision}, ${new Date().toISOString().slice(0, 10)}: ${list.length} planted, ${list.length - missed.length} caught by ${values.unit ? 'the unit tests' : '`npm test`'}, the type check or the lint.

${[...by].map(([name, { length }]) => `- ${name}: ${length}`).join('\n')}

## Missed

| place | mutator | defect |
| --- | --- | --- |
${missed.map(({ mutant, line }) => `| ${mutant.file}:${line} | ${mutant.mutator} | \`${describeMutant(mutant)}\` |`).join('\n')}
`;
}

function describeMutant({ file, start, end, replacement }: Mutant): string {
  return `${shorten(text(file).slice(start, end))} → ${shorten(replacement)}`;
}

function shorten(part: string): string {
  return part.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').slice(0, 60);
}
