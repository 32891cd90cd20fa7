import { describe, expect, it } from 'vitest';
import { assertPasses, failedCheck } from './checks.ts';

/** Runs programs that all pass but the one whose command has `failing` in it, and keeps the commands. */
function programs(failing?: string) {
  const commands: string[] = [];
  const run = (program: string, args: readonly string[]): Promise<boolean> => {
    const command = [program, ...args].join(' ');
    commands.push(command);
    return Promise.resolve(failing === undefined || !command.includes(failing));
  };
  return { run, commands };
}

const tests = { unit: ['a.test.ts'], sockets: ['a.process.test.ts'], process: [] };

describe('failedCheck', () => {
  it('runs the tests that need least first, and none that a file does not have', async () => {
    const { run, commands } = programs();
    expect(await failedCheck(run, { tests, lint: 'a.ts', isUnitOnly: false })).toBeUndefined();
    expect(commands).toEqual([
      'vitest/vitest.mjs run --bail=1 --testTimeout=180000 --hookTimeout=180000 --project=unit a.test.ts',
      'typescript/bin/tsc --noEmit',
      'oxlint/bin/oxlint --type-aware --deny-warnings a.ts',
      'vitest/vitest.mjs run --bail=1 --testTimeout=180000 --hookTimeout=180000 --project=process a.process.test.ts',
    ]);
  });

  it('ends with the unit tests where they are all that is asked for', async () => {
    const { run, commands } = programs();
    await failedCheck(run, { tests, lint: 'a.ts', isUnitOnly: true });
    expect(commands).not.toContainEqual(expect.stringContaining('--project=process'));
  });

  it('names the first check that fails', async () => {
    const { run, commands } = programs('tsc');
    expect(await failedCheck(run, { tests, lint: 'a.ts', isUnitOnly: false })).toBe('type check');
    expect(commands).toHaveLength(2);
  });
});

describe('assertPasses', () => {
  it('runs every test, the type check and the lint of all', async () => {
    const { run, commands } = programs();
    await assertPasses(run, { revision: 'abc1234', isUnitOnly: false });
    expect(commands).toEqual([
      'vitest/vitest.mjs run --bail=1 --testTimeout=180000 --hookTimeout=180000 --project=unit',
      'typescript/bin/tsc --noEmit',
      'oxlint/bin/oxlint --type-aware --deny-warnings .',
      'vitest/vitest.mjs run --bail=1 --testTimeout=180000 --hookTimeout=180000 --project=process',
    ]);
  });

  it.each([
    ['unit tests', '--project=unit'],
    ['type check', 'tsc'],
    ['lint', 'oxlint'],
    ['tests with processes', '--project=process'],
  ])('refuses a commit that fails by itself: %s', async (check, failing) => {
    const { run } = programs(failing);
    await expect(assertPasses(run, { revision: 'abc1234', isUnitOnly: false })).rejects.toThrow(
      `commit abc1234 fails by itself (${check}), so every defect would count as caught: repair it first, or choose another with --revision`,
    );
  });
});
