import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runCommand, tool } from '../support/process/run-command.ts';
import { report } from '../support/report.ts';
import { seed } from '../support/seed.ts';

const python = tool('select/bin/python', 'select');
const script = fileURLToPath(new URL('any_files.py', import.meta.url));
const program = [process.execPath, fileURLToPath(new URL('answer-queries.ts', import.meta.url))];
/** The queries need no server, and so a file of a few hundred records takes a fraction of a second. */
const queries = 4 * Number(process.env['COFFER_SELECT_QUERIES'] ?? 500);
const timeoutMs = Math.max(600, queries) * 1_000;

it(
  `answers ${queries} random queries of files of any types as DuckDB, seed ${seed}`,
  {
    timeout: timeoutMs + 20_000,
  },
  async () => {
    const result = await runCommand(python, [script], { input: JSON.stringify({ seed, queries, program }), timeoutMs });
    if (result.code !== 0) throw new Error(result.stderr);
    const outcome = JSON.parse(result.stdout) as {
      readonly differences: unknown[];
      readonly rows: number;
      readonly refused: number;
    };
    report(`S3 Select: ${queries} queries of files of any types with ${outcome.rows} records as DuckDB, seed ${seed}`);
    expect(outcome.differences).toEqual([]);
    // Both refuse what is too large. A query that both refuse shows nothing, and so these are few.
    expect(outcome.refused).toBeLessThan(queries / 20);
  },
);
