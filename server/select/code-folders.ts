import { realpathSync } from 'node:fs';
import { dirname, sep } from 'node:path';

/**
 * Returns what the process of a query reads: its own code. Everything else of the machine is closed to it by Node's permission model, so
 * that a hostile file that takes over the process finds neither data nor secrets, and starts no program.
 *
 * @param entry the module that the process runs
 */
export function codeFolders(entry: string): readonly string[] {
  const folder = dirname(entry);
  // A bundle has all of its code in one folder. The kind of its modules is in a package.json above it.
  if (!entry.endsWith('.ts')) return [`${folder}${sep}`, `${dirname(folder)}${sep}package.json`];
  const root = dirname(dirname(folder));
  const rooms = ['server', 'protocol', 'platform', 'node_modules'].map((room) => `${root}${sep}${room}`);
  // A folder may be a link, as node_modules is in a second worktree.
  return [...rooms, ...rooms.map((room) => `${realpathSync(room)}${sep}`), `${root}${sep}package.json`];
}
