/**
 * `COFFER_TEST_COSTS=FILE npm test` writes a line of JSON for each test file: the seconds of processor time of its imports, of its tests,
 * and of the processes that it started and waited for. Only Linux has these figures.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect } from 'vitest';

const file = process.env['COFFER_TEST_COSTS'];

/** The processor time of this process and of those of its children that have ended, in seconds. */
function processorTime(): { readonly own: number; readonly children: number } {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // The name of the program is in parentheses and can have spaces. The kernel counts in hundredths of a second.
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map((ticks) => Number(ticks) / 100);
  return { own: user + system, children: childUser + childSystem };
}

if (file !== undefined) {
  const start = processorTime();
  let imported = start;
  beforeAll(() => {
    imported = processorTime();
  });
  afterAll(() => {
    const end = processorTime();
    const line = {
      file: expect.getState().testPath,
      worker: process.pid,
      imports: imported.own - start.own,
      tests: end.own - imported.own,
      children: end.children - start.children,
    };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  });
}
