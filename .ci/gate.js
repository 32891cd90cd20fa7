// The gate behind `.ci/run` and `.ci/nightly`. It needs Node alone, since it installs the packages itself.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, homedir, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { endRunning, runLanes } from './lanes.js';
import { jobsOf, selectSteps } from './selection.js';
import { areas, nightly, steps } from './steps.js';

const usage = `usage: .ci/run [--all | --plan | --jobs] [STEP...]
  without arguments   what the changes since the last full run need
  --all               every step; records the result in .ci/last-full and docs/gate.md
  --plan              prints which steps would run, and why
  --jobs              prints the same as JSON, for the workflows
  STEP...             these steps, and what they need
usage: .ci/nightly [--jobs] [PART...]`;

/** The last run of every step that passed: what `.ci/run` compares with. */
const record = '.ci/last-full';
const page = 'docs/gate.md';
const maxCommits = 150;
/** @type {import('./steps.js').Step} */
const install = { name: 'install', lane: 'wait', minutes: 10, command: 'npm ci' };
/** @param {string} line */
const print = (line) => process.stdout.write(`${line}\n`);

/** @typedef {{ commit: string, date: string, load: string, caches: string, minutes: number, steps: Record<string, object> }} FullRun */

/** @returns {FullRun | undefined} */
function lastFullRun() {
  try {
    return JSON.parse(readFileSync(record, 'utf8'));
  } catch {
    return undefined;
  }
}

/** @param {string[]} args */
const git = (...args) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** What changed since the last full run, commits and files of the working tree. A shallow clone may not have that commit. */
function changesSince(/** @type {FullRun | undefined} */ last) {
  if (last === undefined) return { paths: undefined, since: 'no full run is recorded', commits: 0 };
  const short = last.commit.slice(0, 7);
  try {
    git('merge-base', '--is-ancestor', last.commit, 'HEAD');
    const changed = git('diff', '--name-only', '--no-renames', last.commit);
    const untracked = git('ls-files', '--others', '--exclude-standard');
    const paths = `${changed}\n${untracked}`.split('\n').filter((path) => path !== '');
    const commits = Number(git('rev-list', '--count', `${last.commit}..HEAD`));
    return { paths, since: `the full run of ${short}, ${commits} commits ago`, commits };
  } catch {
    return { paths: undefined, since: `the last full run, of ${short}, is no ancestor of this commit`, commits: 0 };
  }
}

/** @param {{ all?: boolean | undefined, names: readonly string[], changes: ReturnType<typeof changesSince> }} options */
function planOf({ all, names, changes }) {
  if (names.length === 0) {
    const wanted = all ? { paths: undefined, since: '--all' } : changes;
    return selectSteps(steps, areas, wanted);
  }
  const unknown = names.filter((name) => !steps.some((step) => step.name === name));
  if (unknown.length > 0)
    throw new Error(`no step ${unknown.join(', ')}; there are ${steps.map(({ name }) => name).join(', ')}`);
  const asked = steps.map((step) => ({ ...step, always: false }));
  const rows = names.map((name) => /** @type {const} */ ([name, [name]]));
  const { runs, leftOut } = selectSteps(asked, rows, { paths: names, since: '' });
  return { runs: new Map([...runs].map(([name, why]) => [name, name === why ? 'named' : why])), leftOut };
}

/** @param {ReturnType<typeof selectSteps>} plan @param {string} since */
function printPlan({ runs, leftOut }, since) {
  print(`=== what runs, compared with ${since}`);
  for (const [name, reason] of runs) print(`${name.padEnd(14)} ${reason}`);
  if (leftOut.length > 0) print(`left out: ${leftOut.join(', ')}`);
}

/** @param {readonly import('./lanes.js').Result[]} results */
function finish(results) {
  const sum = (/** @type {'passed' | 'failed'} */ key) => results.reduce((total, result) => total + result[key], 0);
  print('\n=== what ran');
  for (const { name, passed, failed, seconds, processorSeconds, remark } of results)
    print(
      `${name.padEnd(16)}${count(passed, 6)} passed${count(failed, 4)} failed${count(seconds, 6)} s${count(Math.round(processorSeconds), 6)} s of processor  ${remark}`.trimEnd(),
    );
  print(`\n${sum('passed')} passed, ${sum('failed')} failed`);
  process.exitCode = sum('failed') === 0 ? 0 : 1;
  return { passed: sum('passed'), failed: sum('failed') };
}

/** @param {number} value @param {number} width */
const count = (value, width) => String(value).padStart(width);

const loads = () =>
  loadavg()
    .map((load) => load.toFixed(1))
    .join(' ');

/** Seconds that the processors of this machine were busy since its start. */
const busySeconds = () => cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys, 0) / 1_000;

/** Keeps what a full run showed: for the next decisions where it passed, and in any case for people. */
function keep(/** @type {readonly import('./lanes.js').Result[]} */ results, { commit, started, before, caches }) {
  const clean = git('status', '--porcelain', '--untracked-files=no') === '' && git('rev-parse', 'HEAD') === commit;
  const date = `${new Date(started).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const minutes = Math.round((Date.now() - started) / 6_000) / 10;
  const load = `${before} before, ${loads()} after`;
  const passed = results.reduce((sum, result) => sum + result.passed, 0);
  const failures = results.filter(({ failed }) => failed > 0).map(({ name }) => name);
  const verdict = failures.length === 0 ? `${passed} passed` : `**failed: ${failures.join(', ')}**`;
  const line = `- ${date}, commit ${commit.slice(0, 7)}${clean ? '' : ' with changes'}: ${verdict}, ${minutes} min on ${cpus().length} processors, caches ${caches}, load ${load}\n`;
  const text = readFileSync(page, 'utf8');
  const list = /^## Full runs\n\n.*\n\n?/m;
  if (!list.test(text)) throw new Error(`${page} has no list below "Full runs" and one paragraph`);
  writeFileSync(
    page,
    text.replace(list, (before) => `${before.trimEnd()}\n\n${line}`),
  );
  if (!clean || failures.length > 0)
    return print(`${record} stays as it is: ${clean ? 'the run failed' : 'the tree has changes'}`);
  const times = Object.fromEntries(
    results.map(({ name, seconds, processorSeconds }) => [name, { seconds, processorSeconds }]),
  );
  writeFileSync(record, `${JSON.stringify({ commit, date, load, caches, minutes, steps: times }, undefined, 2)}\n`);
  print(`${record} and ${page} are written: commit both`);
}

async function run() {
  const { values, positionals: names } = parseArgs({
    allowPositionals: true,
    options: {
      all: { type: 'boolean' },
      plan: { type: 'boolean' },
      jobs: { type: 'boolean' },
      nightly: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return print(usage);
  if (values.nightly) return runNightly(names, values.jobs === true);
  const last = lastFullRun();
  const changes = changesSince(last);
  const plan = planOf({ all: values.all, names, changes });
  if (values.jobs) return print(JSON.stringify(jobsOf(steps, new Set(plan.runs.keys()))));
  const why = values.all ? 'nothing: every step runs' : changes.since;
  printPlan(plan, names.length > 0 ? 'nothing' : why);
  if (values.plan) return;

  const commit = values.all ? git('rev-parse', 'HEAD') : undefined;
  const [started, before, busy] = [Date.now(), loads(), busySeconds()];
  const tools = process.env['COFFER_TOOLS'] ?? join(homedir(), '.cache', 'coffer-tools');
  const caches = existsSync(join(tools, 'kubernetes', 'cluster.version')) ? 'warm' : 'cold';
  // As what tests draw, by COFFER_SEED: a run judges a change.
  process.env['COFFER_ORDER'] ??= '1';
  print(`\nload ${before}, caches ${caches}, order of the tests by COFFER_ORDER=${process.env['COFFER_ORDER']}`);
  const results = await runLanes([install], print);
  if (results.some(({ failed }) => failed > 0)) return void finish(results);
  process.env['COFFER_IMAGE_BUILT'] = 'yes';
  try {
    results.push(
      ...(await runLanes(
        steps.filter(({ name }) => plan.runs.has(name)),
        print,
      )),
    );
  } finally {
    if (plan.runs.has('image')) execFileSync('bash', ['.ci/docker-engine', 'down'], { stdio: 'inherit' });
  }
  // A run of every step needs no earlier one to compare with.
  const isWhole = plan.runs.size === steps.length;
  if (names.length === 0 && !values.all && !isWhole && changes.commits > maxCommits) {
    const remark = `the last full run is ${changes.commits} commits old: run .ci/run --all and commit ${record}`;
    results.push({ name: 'last-full', passed: 0, failed: 1, seconds: 0, processorSeconds: 0, remark });
  }
  if (commit !== undefined) keep(results, { commit, started, before, caches });
  const [minutes, busyMinutes] = [(Date.now() - started) / 60_000, (busySeconds() - busy) / 60];
  print(`\n${minutes.toFixed(1)} minutes, processors busy for ${busyMinutes.toFixed(1)} minutes, load ${loads()}`);
  finish(results);
}

/** @param {readonly string[]} names @param {boolean} asJobs */
async function runNightly(names, asJobs) {
  const parts = nightly.filter(({ name }) => names.length === 0 || names.includes(name));
  if (parts.length === 0) throw new Error(`no such part; there are ${nightly.map(({ name }) => name).join(', ')}`);
  if (asJobs) return print(JSON.stringify(jobsOf(parts, new Set(parts.map(({ name }) => name)))));
  const results = await runLanes([install], print);
  if (results.every(({ failed }) => failed === 0)) results.push(...(await runLanes(parts, print)));
  finish(results);
}

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM']))
  process.on(signal, () => {
    endRunning();
    process.exitCode = 1;
  });
await run().catch((error) => {
  print(String(error.message ?? error));
  print(usage);
  process.exitCode = 2;
});
