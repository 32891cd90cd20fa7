import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { keptChunks } from '../../platform/chunks.ts';
import { temporaryFolder } from '../../test/support/store/temporary-folder.ts';
import { parseSelectRequest } from './select-request.ts';
import { QueryProcesses } from './query-processes.ts';

const xml = Buffer.from(
  '<SelectObjectContentRequest><Expression>SELECT * FROM S3Object</Expression><ExpressionType>SQL</ExpressionType>' +
    '<InputSerialization><CSV/></InputSerialization><OutputSerialization><CSV/></OutputSerialization></SelectObjectContentRequest>',
);
const request = parseSelectRequest(xml);
const bytes = Buffer.from('a,b\n1,2\n');
const object = {
  size: bytes.length,
  read: (start: number, end: number) => Promise.resolve(bytes.subarray(start, end)),
};

/** The processes that this one has started. */
function children(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
        return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]) === process.pid;
      } catch {
        return false;
      }
    })
    .map(Number);
}

it('runs a query after the process of the query before has ended on its own', async () => {
  const queries = new QueryProcesses();
  const answer = async () => {
    const messages = await queries.run(request, object, new Date());
    const found = Buffer.concat(await Array.fromAsync(keptChunks(messages)));
    await messages.close();
    return found.toString('latin1');
  };
  const others = new Set(children());
  expect(await answer()).toContain('1,2');
  const [idle, ...more] = children().filter((pid) => !others.has(pid));
  expect(more).toEqual([]);
  if (idle === undefined) throw new Error('the process was not kept');
  process.kill(idle, 'SIGKILL');
  await expect.poll(children).not.toContain(idle);
  await sleep(50);
  expect(await answer()).toContain('1,2');
}, 20_000);

it('refuses queries while no process can be started, and runs them afterwards', async () => {
  const script = `
    const { openSync, closeSync } = await import('node:fs');
    const { QueryProcesses } = await import(${JSON.stringify(new URL('query-processes.ts', import.meta.url).href)});
    const { parseSelectRequest } = await import(${JSON.stringify(new URL('select-request.ts', import.meta.url).href)});
    const request = parseSelectRequest(Buffer.from(process.env.REQUEST));
    const bytes = Buffer.from('a,b\\n1,2\\n');
    const object = { size: bytes.length, read: async (start, end) => bytes.subarray(start, end) };
    const queries = new QueryProcesses();
    const query = async () => {
      const messages = await queries.run(request, object, new Date());
      try {
        return (await messages.next()) !== undefined;
      } finally {
        await messages.close();
      }
    };
    const taken = [];
    try {
      for (;;) taken.push(openSync('/dev/null'));
    } catch {}
    // More than may run at a time: a refused query leaves its place to the next.
    for (let round = 0; round < 4; round += 1) console.log(await query().catch(({ code }) => code));
    for (const file of taken) closeSync(file);
    console.log(await query());
    process.exit(0);
  `;
  const folder = await temporaryFolder();
  const file = join(folder.path, 'script.mjs');
  await writeFile(file, script);
  const limited = ['-c', 'ulimit -n 200; exec "$0" "$1"', process.execPath, file];
  const { stdout } = await promisify(execFile)('sh', limited, { env: { ...process.env, REQUEST: String(xml) } });
  await folder.remove();
  expect(stdout).toBe('EMFILE\nEMFILE\nEMFILE\nEMFILE\ntrue\n');
}, 30_000);
