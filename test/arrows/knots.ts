import { posix } from 'node:path';

/** One file that imports another, by their paths from the project's root. */
export type Import = readonly [from: string, to: string];

/** The entries of a folder that import each other in a circle: folders with all below them, or `.` for the folder's own files. */
export interface Knot {
  readonly folder: string;
  readonly entries: readonly string[];
}

/** Returns the knots of every folder. Two folders that import each other are one folder, or a third one is missing below them. */
export function knotsOf(imports: readonly Import[]): Knot[] {
  return [...arrowsByFolder(imports)]
    .flatMap(([folder, arrows]) => circles(arrows).map((entries) => ({ folder, entries })))
    .toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}

/**
 * Compares the knots of the sources with the list of those that are known. Returns a line for each knot that the list does not have, and
 * one for each line of the list that the sources do not have any more: the list may only shrink.
 */
export function compareKnots(found: readonly Knot[], known: readonly string[]): string[] {
  const lines = found.map(textOf);
  return [
    ...lines
      .filter((line) => !known.includes(line))
      .map((line) => `new knot: ${line}: let these imports point one way`),
    ...known.filter((line) => !lines.includes(line)).map((line) => `this knot is gone, take it off the list: ${line}`),
  ];
}

/** Returns a knot as the list names it: `server/objects: bodies, records`. */
export function textOf({ folder, entries }: Knot): string {
  return `${folder}: ${entries.join(', ')}`;
}

/** Returns, for each folder, which of its entries import which. An import counts in the folder where the paths of its files part. */
function arrowsByFolder(imports: readonly Import[]): Map<string, Map<string, Set<string>>> {
  const folders = new Map<string, Map<string, Set<string>>>();
  for (const [from, to] of imports) {
    const [source, target] = [posix.dirname(from).split('/'), posix.dirname(to).split('/')];
    let depth = 0;
    while (depth < source.length && depth < target.length && source[depth] === target[depth]) depth++;
    if (depth === source.length && depth === target.length) continue;
    const folder = source.slice(0, depth).join('/') || '.';
    const arrows = folders.get(folder) ?? new Map<string, Set<string>>();
    const [start, end] = [source[depth] ?? '.', target[depth] ?? '.'];
    folders.set(folder, arrows.set(start, (arrows.get(start) ?? new Set()).add(end)));
  }
  return folders;
}

/** Returns the groups of nodes that reach each other, each with more than one node. */
function circles(arrows: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const reached = new Map([...arrows.keys()].map((node) => [node, reachable(arrows, node)]));
  const groups = new Map<string, string[]>();
  for (const node of [...arrows.keys()].toSorted()) {
    const group = [...arrows.keys()].filter((other) => reached.get(node)?.has(other) && reached.get(other)?.has(node));
    if (group.length > 1) groups.set(group.toSorted().join(), group.toSorted());
  }
  return [...groups.values()];
}

function reachable(arrows: ReadonlyMap<string, ReadonlySet<string>>, start: string): Set<string> {
  const nodes = new Set(arrows.get(start));
  for (const node of nodes) for (const next of arrows.get(node) ?? []) nodes.add(next);
  return nodes;
}
