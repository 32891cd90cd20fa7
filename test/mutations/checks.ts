import type { RelatedTests } from './related-tests.ts';

/** Runs a program of node_modules in the worktree of the commit; true when it ends well. */
export type RunProgram = (program: string, args: readonly string[]) => Promise<boolean>;

interface Checks {
  /** The tests that run; without it, all. */
  readonly tests?: RelatedTests;
  /** The file or folder that the lint reads. */
  readonly lint: string;
  /** Run no tests with sockets and processes. */
  readonly isUnitOnly: boolean;
}

/** The first check that fails, the cheapest first; undefined when all pass. */
export async function failedCheck(run: RunProgram, { tests, lint, isUnitOnly }: Checks): Promise<string | undefined> {
  /** Without `files`, all tests of the project run. A busy machine would fail the timeouts of `npm test`, which is no defect caught. */
  const test = (project: 'unit' | 'process', files: readonly string[] | undefined) =>
    files?.length === 0 ||
    run('vitest/vitest.mjs', [
      'run',
      '--bail=1',
      '--testTimeout=180000',
      '--hookTimeout=180000',
      `--project=${project}`,
      ...(files ?? []),
    ]);
  if (!(await test('unit', tests?.unit))) return 'unit tests';
  if (!(await run('typescript/bin/tsc', ['--noEmit']))) return 'type check';
  if (!(await run('oxlint/bin/oxlint', ['--type-aware', '--deny-warnings', lint]))) return 'lint';
  if (isUnitOnly) return undefined;
  if (tests !== undefined && !(await test('process', tests.sockets))) return 'tests with sockets';
  if (!(await test('process', tests?.process))) return 'tests with processes';
  return undefined;
}

/** Throws unless the commit passes without a defect: if it fails by itself, each defect counts as caught. */
export async function assertPasses(
  run: RunProgram,
  { revision, isUnitOnly }: { readonly revision: string; readonly isUnitOnly: boolean },
): Promise<void> {
  const failed = await failedCheck(run, { lint: '.', isUnitOnly });
  if (failed !== undefined)
    throw new Error(
      `commit ${revision} fails by itself (${failed}), so every defect would count as caught: ` +
        'repair it first, or choose another with --revision',
    );
}
