// Runs steps in lanes, each step with its own time budget, and prints the log of each whole when it has ended.
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * @typedef {import('./steps.js').Step} Step
 * @typedef {object} Result
 * @property {string} name
 * @property {number} passed
 * @property {number} failed
 * @property {number} seconds
 * @property {number} processorSeconds User and system time of what the step ran and waited for; a daemon's is not in it.
 * @property {string} remark
 */

/** `$1` is the command, `$2` the file for the times. */
const script = 'eval "$1"; code=$?; times >"$2"; exit $code';

/**
 * Runs all steps and resolves with their results in the order of the table. A step that fails stops no other but those that need it.
 * @param {readonly Step[]} steps
 * @param {(line: string) => void} print
 * @returns {Promise<Result[]>}
 */
export async function runLanes(steps, print) {
  const folder = mkdtempSync(join(tmpdir(), 'coffer-gate-'));
  /** @type {Map<string, Result>} */
  const results = new Map();
  /** @param {Step['lane']} lane */
  const runLane = async (lane) => {
    for (const step of steps.filter((each) => each.lane === lane)) {
      const { name, needs } = step;
      const needed = needs === undefined ? undefined : results.get(needs);
      if (ended) return;
      const blocked = needed !== undefined && needed.failed > 0;
      const result = blocked ? notRun(name, `not run: ${needed.name} failed`) : await runStep(step, folder, print);
      results.set(name, result);
    }
  };
  try {
    await Promise.all([...new Set(steps.map(({ lane }) => lane))].map(runLane));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return steps.map(({ name }) => results.get(name) ?? notRun(name, 'not run'));
}

/**
 * @param {string} name
 * @param {string} remark
 * @returns {Result}
 */
const notRun = (name, remark) => ({ name, passed: 0, failed: 1, seconds: 0, processorSeconds: 0, remark });

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();

let ended = false;

/** Ends the steps that run, with everything that they started. No other begins. */
export function endRunning() {
  ended = true;
  // `timeout` passes the signal on to its process group.
  for (const child of running) child.kill('SIGTERM');
}

/**
 * @param {Step} step
 * @param {string} folder for the log
 * @param {(line: string) => void} print
 * @returns {Promise<Result>}
 */
async function runStep({ name, minutes, command, tests }, folder, print) {
  const [log, times, json] = ['log', 'times', 'json'].map((kind) => join(folder, `${name}.${kind}`));
  const reporters = ` --reporter=default --reporter=json --outputFile.json=${json}`;
  const started = Date.now();
  print(`--- ${name} begins: ${command}`);
  const code = await new Promise((resolve) => {
    const file = openSync(log, 'w');
    const budget = ['--kill-after=20s', `${minutes}m`];
    const args = [...budget, 'bash', '-c', script, name, tests ? command + reporters : command, times];
    const child = spawn('timeout', args, { stdio: ['ignore', file, file], detached: true });
    closeSync(file);
    running.add(child);
    child.on('error', () => resolve(127));
    child.on('exit', (status, signal) => resolve(status ?? `ended by ${signal}`));
    child.on('close', () => running.delete(child));
  });
  const seconds = Math.round((Date.now() - started) / 1000);
  print(`\n=== ${name}: ${command}\n${readFileSync(log, 'utf8')}`);
  const remark =
    code === 0 ? '' : code === 124 || code === 137 ? `over its budget of ${minutes} minutes` : `exit code ${code}`;
  const counts = tests
    ? countTests(json, code === 0)
    : { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 };
  return {
    name,
    passed: counts.passed,
    failed: counts.failed,
    seconds,
    processorSeconds: processorTime(times),
    remark: [remark, counts.skipped === 0 ? '' : `${counts.skipped} SKIPPED`].filter((text) => text !== '').join(', '),
  };
}

/**
 * A run that failed, or that ran no test, has at least one failure.
 * @param {string} file the JSON report of vitest
 * @param {boolean} succeeded
 */
function countTests(file, succeeded) {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'));
    const good = succeeded && report.success && report.numPassedTests > 0;
    return {
      passed: report.numPassedTests,
      failed: Math.max(report.numFailedTests, good ? 0 : 1),
      skipped: report.numPendingTests,
    };
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

/**
 * Seconds of the second line that bash's `times` prints: user and system time of its children, as `1m2.345s 0m6.789s`.
 * @param {string} file
 */
function processorTime(file) {
  try {
    const line = readFileSync(file, 'utf8').split('\n')[1] ?? '';
    const all = [...line.matchAll(/(\d+)m([\d.]+)s/g)];
    const sum = all.reduce((total, [, minutes, seconds]) => total + Number(minutes) * 60 + Number(seconds), 0);
    return Math.round(sum * 10) / 10;
  } catch {
    return 0;
  }
}
