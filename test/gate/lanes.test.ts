import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runLanes } from '../../.ci/lanes.js';
import { temporaryFolder } from '../support/store/temporary-folder.ts';

type Step = Parameters<typeof runLanes>[0][number];
const step = (name: string, lane: Step['lane'], command: string, rest: Partial<Step> = {}): Step => ({
  name,
  lane,
  command,
  minutes: 1,
  ...rest,
});

/** The program that stands for vitest: it writes the report to the file that its last argument names. */
const reporting = (passed: number, failed: number) =>
  `last() { file="\${@: -1}"; echo '{"numPassedTests":${passed},"numFailedTests":${failed},"numPendingTests":1,"success":${failed === 0}}' >"\${file##*=}"; }; last`;

async function run(...steps: readonly Step[]) {
  const lines: string[] = [];
  const results = await runLanes(steps, (line) => lines.push(line));
  return { lines, results, outcomes: results.map(({ name, passed, failed }) => `${name} ${passed} ${failed}`) };
}

describe('the lanes of the gate', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  const made = (name: string) => join(folder.path, name);
  beforeAll(async () => {
    folder = await temporaryFolder();
  });
  afterAll(() => folder.remove());

  it('run beside each other, and the steps of one lane one after the other', async () => {
    // Each lane waits for a file that the other one makes.
    const waitFor = (name: string) => `until [ -e ${made(name)} ]; do sleep 0.02; done`;
    const { outcomes } = await run(
      step('one', 'compute', `touch ${made('one')}; ${waitFor('two')}; [ ! -e ${made('three')} ]`),
      step('two', 'wait', `${waitFor('one')}; touch ${made('two')}`),
      step('three', 'compute', `touch ${made('three')}`),
    );
    expect(outcomes).toEqual(['one 1 0', 'two 1 0', 'three 1 0']);
  });

  it('run every step though one before it failed', async () => {
    const { results } = await run(step('bad', 'compute', 'exit 3'), step('good', 'compute', 'true'));
    expect(results).toMatchObject([
      { failed: 1, remark: 'exit code 3' },
      { passed: 1, failed: 0 },
    ]);
  });

  it('end a step, and what it started, at its budget', async () => {
    const late = join(folder.path, 'late');
    const { results } = await run(step('slow', 'wait', `(sleep 2; touch ${late}) & wait`, { minutes: 0.01 }));
    expect(results).toMatchObject([{ failed: 1, remark: 'over its budget of 0.01 minutes' }]);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(existsSync(late)).toBe(false);
  });

  it('leave out what needs a step that failed, and count that as a failure', async () => {
    const { results } = await run(step('image', 'wait', 'false'), step('tier', 'wait', 'true', { needs: 'image' }));
    expect(results[1]).toMatchObject({ passed: 0, failed: 1, remark: 'not run: image failed' });
  });

  it('print the log of a step whole, under its heading, when it has ended', async () => {
    const { lines } = await run(
      step('one', 'compute', 'echo first; sleep 0.3; echo second >&2'),
      step('two', 'wait', 'echo other'),
    );
    expect(lines).toContain('\n=== one: echo first; sleep 0.3; echo second >&2\nfirst\nsecond\n');
  });

  it('count each test of a step that runs tests, and fail one that ran none', async () => {
    const { outcomes, results } = await run(
      step('tests', 'compute', reporting(7, 0), { tests: true }),
      step('red', 'compute', reporting(7, 2), { tests: true }),
      step('none', 'compute', reporting(0, 0), { tests: true }),
      step('broken', 'compute', 'true', { tests: true }),
    );
    expect(outcomes).toEqual(['tests 7 0', 'red 7 2', 'none 0 1', 'broken 0 1']);
    expect(results[0]?.remark).toBe('1 SKIPPED');
  });

  it('measure the processor time of what a step runs', { timeout: 180_000 }, async () => {
    const { results } = await run(step('busy', 'compute', `node -e 'while (process.cpuUsage().user < 100_000);'`));
    expect(results[0]?.processorSeconds).toBeGreaterThanOrEqual(0.1);
  });
});
