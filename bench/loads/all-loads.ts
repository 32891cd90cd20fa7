import { listLoads } from './list-loads.ts';
import type { Load } from './load.ts';
import { singleObjectLoads } from './single-object-loads.ts';

export const loads: readonly Load[] = [...singleObjectLoads, ...listLoads];

/** The loads of these names; `put` means those of all sizes. */
export function loadsNamed(names: readonly string[]): Load[] {
  return names.flatMap((name) => {
    const found = loads.filter((load) => load.name === name || load.name.startsWith(`${name}-`));
    if (found.length === 0) {
      throw new Error(`no load is named "${name}": choose from ${loads.map((load) => load.name).join(', ')}`);
    }
    return found;
  });
}
