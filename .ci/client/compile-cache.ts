import { mkdirSync, statSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Keeps the compiled modules in `~/.cache/coffer/compile`, which halves the start. What is in the folder runs, so that it must belong to the user
 * and nobody else may write there: `sudo -E` would otherwise run what another user compiled. Node 20 has no compile cache.
 */
export function enableCompileCache(): void {
  const { enableCompileCache: enable } = module as { readonly enableCompileCache?: typeof module.enableCompileCache };
  if (enable === undefined) return;
  try {
    const folder = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'coffer', 'compile');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(folder);
    // Windows has neither users nor modes here; the folder is below the profile of the user.
    if (process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o022) !== 0)) return;
    enable(folder);
  } catch {
    // A user without a home, or a home that cannot be written, has no cache.
  }
}
