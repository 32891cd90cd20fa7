import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { forEachLimit } from '../../platform/async/concurrency.ts';
import { fullForm } from '../support/full-form.ts';
import { programArguments, programEnvironment } from '../support/process/program.ts';
import { runCoffer } from '../support/server/run-coffer.ts';
import { everyCommand, type Row, stageLines } from './every-command.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

let folder: string;
let server: RunningServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-lost-output-'));
  server = await startServer();
  await untilReady(server);
  await writeFile(join(folder, 'file'), 'a file\n');
  const read = { Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::shared/*'] };
  await writeFile(join(folder, 'policy.json'), policyOf(read));
  await writeFile(join(folder, 'bucket-policy.json'), policyOf({ ...read, Principal: '*' }));
  for (const line of stageLines) {
    const { code, stderr } = await runCoffer(wordsOf(line), { env: environment() });
    expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: expect.any(String) as string });
  }
}, 180_000);

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

const policyOf = (statement: object) => JSON.stringify({ Version: '2012-10-17', Statement: [statement] });

function environment(): Record<string, string> {
  const host = server.s3.replace('http://', `http://${server.accessKey}:${server.secretKey}@`);
  return { COFFER_CONFIG_DIR: join(folder, 'config'), COFFER_HOST_s: host };
}

function wordsOf(line: string): string[] {
  return line.split(' ').map((word) => decodeURIComponent(word.replace('FOLDER', folder)));
}

/** Lines of commands with several kinds of output, beside the one that each command has in the table. */
const moreLines = [
  'ls s',
  'ls -r --summarize s/box',
  'stat FOLDER/file',
  'cat FOLDER/file',
  'cp s/box/dir/file /dev/stdout',
  '--help',
  'cp --help',
  '--version',
].map((line) => ({ command: line, line, kind: 'prints' as const }));

type Output = 'full' | 'a pipe without a reader';

async function end(line: string, output: Output): Promise<{ readonly code: number | null; readonly stderr: string }> {
  const main = programArguments(new URL('../../cli/main.ts', import.meta.url));
  const env = { PATH: process.env['PATH'] ?? '', ...programEnvironment, ...environment() };
  const full = output === 'full' ? await open('/dev/full', 'w') : undefined;
  const args = [...main, ...wordsOf(line)];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', full?.fd ?? 'pipe', 'pipe'] });
  child.stdout?.destroy();
  if (child.stderr === null) throw new Error('standard error is no pipe');
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit') as Promise<[number | null]>]);
  await full?.close();
  return { code, stderr };
}

/**
 * Every command with every output, in text and in JSON; `npm test` tries a part of them. A closed output is not among them: Node opens /dev/null in
 * its place, and a program that is started with /dev/null has the same descriptor.
 */
const cases = [...(await everyCommand()), ...moreLines]
  .filter(({ kind }) => kind !== 'endless')
  .flatMap((row) => [row, { ...row, line: `--json ${row.line}` }])
  .flatMap((row) => (['full', 'a pipe without a reader'] as const).map((output) => ({ ...row, output })))
  .filter((_, at) => fullForm || at % 67 === 0);

// Only Linux has /dev/full, on which every write fails.
it.skipIf(!existsSync('/dev/full'))(
  'an output that cannot be written ends each command with 1',
  { timeout: 900_000 },
  async () => {
    const wrong: unknown[] = [];
    await forEachLimit(cases, 4, async ({ line, kind, output }) => {
      const { code, stderr } = await end(line, output);
      const isSilent = kind === 'may-be-silent' && code === 0 && stderr === '';
      // A failure may have an exit code of its own.
      const hasFailed = kind === 'fails' ? code !== 0 : code === 1;
      if (!isSilent && (!hasFailed || !isTold(kind, output, stderr))) wrong.push({ line, output, code, stderr });
    });
    expect(wrong).toEqual([]);
  },
);

/** The reader of a pipe that is gone knows that it has gone. A command that fails has its own reason, in text on standard error. */
function isTold(kind: Row['kind'], output: Output, stderr: string): boolean {
  const hintOfOldName = 'coffer: <WARNING> ';
  if (kind === 'fails') return output === 'a pipe without a reader' || stderr !== '';
  if (output === 'full')
    return stderr.endsWith('coffer: standard output cannot be written: no space is left on the device\n');
  return stderr === '' || stderr.startsWith(hintOfOldName);
}
