import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { defaultQueryBudget } from '../../server/select/query-budget.ts';
import { QueryProcesses } from '../../server/select/query-processes.ts';
import { runCommand, tool } from '../support/process/run-command.ts';
import { report } from '../support/report.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { csvOutput } from '../support/select/select-test.ts';

const python = tool('select/bin/python', 'select');
const writeFiles = `
import sys, pyarrow as pa, pyarrow.parquet as parquet
rows = [{"i": at, "s": "text%d" % (at % 7), "f": at / 4, "n": {"x": at, "l": [at, at + 1]}} for at in range(300)]
table = pa.Table.from_pylist(rows)
for name, more in {
    "none": {"compression": "none"}, "plain": {"compression": "none", "use_dictionary": False},
    "second": {"compression": "none", "data_page_version": "2.0"}, "snappy": {}, "zstd": {"compression": "zstd"},
    "delta": {"compression": "none", "use_dictionary": False, "column_encoding": {"i": "DELTA_BINARY_PACKED", "s": "DELTA_LENGTH_BYTE_ARRAY"}},
}.items():
    parquet.write_table(table.select(["i", "s", "f"]) if name == "delta" else table, sys.argv[1] + "/" + name, **more)
`;
import { seed } from '../support/seed.ts';
const files = Number(process.env['COFFER_SELECT_FILES'] ?? 1_000);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-parquet-'));
  const written = await runCommand(python, ['-c', writeFiles, folder]);
  if (written.code !== 0) throw new Error(written.stderr);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a query, and returns the code of its error. */
async function codeOf(queries: QueryProcesses, bytes: Buffer): Promise<string> {
  const request = {
    expression: 'SELECT * FROM S3Object',
    input: { kind: 'parquet' },
    output: csvOutput,
    progress: false,
    range: undefined,
  } as const;
  const object = {
    size: bytes.length,
    read: (start: number, end: number) => Promise.resolve(bytes.subarray(start, end)),
  };
  try {
    const messages = await queries.run(request, object, {
      now: new Date(),
      budget: defaultQueryBudget,
      account: 'a',
      gone: () => false,
    });
    try {
      while ((await messages.next()) !== undefined);
    } finally {
      await messages.close();
    }
    return 'none';
  } catch (error) {
    if (error instanceof S3Error) return error.code;
    throw error;
  }
}

it(
  `ends ${files} queries of damaged Parquet files with an S3 error, seed ${seed}`,
  { timeout: Math.max(900, 2 * files) * 1_000 },
  async () => {
    const random = new SeededRandom(seed);
    const names = (await readdir(folder)).toSorted();
    const originals = await Promise.all(names.map((name) => readFile(join(folder, name))));
    const queries = new QueryProcesses();
    const counts = new Map<string, number>();
    let slowest = 0;
    for (const original of originals) expect(await codeOf(queries, original)).toBe('none');
    for (let file = 0; file < files; file += 1) {
      const bytes = Buffer.from(originals[file % originals.length] ?? '');
      const changes = random.between(1, 4);
      for (let change = 0; change < changes; change += 1)
        bytes[random.between(0, bytes.length - 1)] = random.between(0, 255);
      const began = performance.now();
      const code = await codeOf(queries, bytes);
      slowest = Math.max(slowest, performance.now() - began);
      counts.set(code, (counts.get(code) ?? 0) + 1);
    }
    report(
      `S3 Select: ${files} damaged Parquet files, the slowest ${Math.round(slowest)} ms: ${JSON.stringify([...counts])}`,
    );
    expect(slowest).toBeLessThan(60_000);
  },
);
