import { listLoads } from './list-loads.ts';
import type { Load } from './load.ts';
import { mixedLoad } from './mixed-load.ts';
import { multipartLoad } from './multipart-load.ts';
import { singleObjectLoads } from './single-object-loads.ts';

export const loads: readonly Load[] = [...singleObjectLoads, mixedLoad, ...listLoads, multipartLoad];

/** The loads of these names; `put` means those of all sizes. */
export function loadsNamed(names: readonly string[]): Load[] {
  const found = names.map((name) => {
    const exact = loads.filter((load) => load.name === name);
    const begun = exact.length > 0 ? exact : loads.filter((load) => load.name.startsWith(`${name}-`));
    if (begun.length > 0) return begun;
    throw new Error(`no load is named "${name}": choose from ${loads.map((load) => load.name).join(', ')}`);
  });
  return [...new Set(found.flat())];
}
