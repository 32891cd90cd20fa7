import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer, untilReady } from '../support/server/start-server.ts';
import { temporaryFolder } from '../support/store/temporary-folder.ts';

let base: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  base = await temporaryFolder();
});
afterAll(() => base.remove());

it('tells systemd when it serves, and when it stops', async () => {
  const told = join(base.path, 'told');
  // The program of systemd sends its arguments to the socket.
  const notify = join(base.path, 'systemd-notify');
  await writeFile(told, '');
  await writeFile(notify, `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> '${told}'\n`);
  await chmod(notify, 0o755);
  const env = { NOTIFY_SOCKET: '/run/systemd/notify', PATH: `${base.path}:${process.env['PATH'] ?? ''}` };
  const server = await startServer({ folder: join(base.path, 'data'), env });
  const lines = async () => (await readFile(told, 'utf8')).split('\n').filter((line) => line !== '');
  try {
    await untilReady(server);
    await expect.poll(lines, { timeout: 60_000 }).toEqual(['/run/systemd/notify READY=1']);
  } finally {
    await server.stop();
  }
  await expect.poll(lines).toEqual(['/run/systemd/notify READY=1', '/run/systemd/notify STOPPING=1']);
});
