import { mkdir, open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds. A renewal takes seconds; its program was killed if the file is older. */
const staleMs = 60_000;
const pollMs = 100;

/** Waits until no other program renews the login of an alias. Returns the function that ends the wait of the next one. */
export async function lockLogin(
  configFolder: string,
  alias: string,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const path = join(configFolder, 'logins', `${alias}.lock`);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  for (;;) {
    try {
      await (await open(path, 'wx', 0o600)).close();
      return () => rm(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const age = await stat(path).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > staleMs) await rm(path, { force: true });
    else await sleep(pollMs, undefined, { signal });
  }
}
