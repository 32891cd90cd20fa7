import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';

const watcher = `
  import { watchNpm } from ${JSON.stringify(new URL('../../examples/quickstart/end-with-npm.ts', import.meta.url).href)};
  watchNpm((reason) => { process.stdout.write(reason); process.exit(); });
  process.stdout.write('watching ');
  setInterval(() => {}, 60_000);
`;

/** As npm does it: its title, and a shell between itself and the program. */
const npm = `
  process.title = 'npm start';
  require('node:child_process').spawn('/bin/sh', ['-c', '"$0" --input-type=module -e "$PROGRAM"; :', process.execPath], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, npm_lifecycle_event: 'start' },
  });
`;

it.skipIf(process.platform !== 'linux')('ends the demonstration when npm is killed', async () => {
  const child = spawn(process.execPath, ['-e', npm], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PROGRAM: watcher },
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    if (said === 'watching ') child.kill('SIGKILL');
  });
  // The pipe closes when the last process that has it ends.
  await once(child.stdout, 'close');
  expect(said).toBe('watching npm has ended');
});
