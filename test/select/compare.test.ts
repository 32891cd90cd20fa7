import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand, tool } from '../support/process/run-command.ts';
import { report } from '../support/report.ts';
import { startEncryptingServer, type EncryptingServer } from '../support/server/start-encrypting-server.ts';
import { seed } from '../support/seed.ts';

const python = tool('select/bin/python', 'select');
const script = fileURLToPath(new URL('compare.py', import.meta.url));
const queries = Number(process.env['COFFER_SELECT_QUERIES'] ?? 1_000);
const timeoutMs = Math.max(900, 2 * queries) * 1_000;
let running: EncryptingServer;

beforeAll(async () => {
  running = await startEncryptingServer();
}, 360_000);
afterAll(() => running.stop());

it(`answers ${queries} random queries as DuckDB, seed ${seed}`, { timeout: timeoutMs + 20_000 }, async () => {
  const { server, caFile } = running;
  const { accessKey, secretKey } = server;
  const job = { endpoint: server.s3, accessKey, secretKey, authority: caFile, seed, queries, rows: 2_000 };
  const result = await runCommand(python, [script], {
    input: JSON.stringify(job),
    env: { NO_PROXY: '*' },
    timeoutMs,
  });
  if (result.code !== 0) throw new Error(result.stderr);
  const outcome = JSON.parse(result.stdout) as { readonly differences: unknown[]; readonly rows: number };
  report(`S3 Select: ${queries} queries with ${outcome.rows} records as DuckDB, seed ${seed}`);
  expect(outcome.differences).toEqual([]);
});
