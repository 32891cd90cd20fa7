import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { keptChunks } from '../../platform/chunks.ts';
import { parseSelectRequest } from './select-request.ts';
import { QueryProcesses } from './query-processes.ts';

const request = parseSelectRequest(
  Buffer.from(
    '<SelectObjectContentRequest><Expression>SELECT * FROM S3Object</Expression><ExpressionType>SQL</ExpressionType>' +
      '<InputSerialization><CSV/></InputSerialization><OutputSerialization><CSV/></OutputSerialization></SelectObjectContentRequest>',
  ),
);
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
