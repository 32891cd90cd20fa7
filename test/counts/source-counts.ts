import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The programs and what they share; all else is tests, measurements and examples. */
const product = /^(?:bin|cli|keysvc|operator|platform|protocol|server)\//;
const test = /\.test\.tsx?$/;

/** A source file of a checkout, by its path from the project's root. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/** All TypeScript files that git knows in the checkout, without tests. */
export function readSources(checkout: string): readonly Source[] {
  const paths = execFileSync('git', ['-C', checkout, 'ls-files', '*.ts', '*.tsx'], { encoding: 'utf8' }).split('\n');
  return paths
    .filter((path) => path !== '' && !test.test(path))
    .map((path) => ({ path, text: readFileSync(join(checkout, path), 'utf8') }));
}

export function isProduct({ path }: Source): boolean {
  return product.test(path);
}

export interface SizeCounts {
  readonly files: number;
  readonly lines: number;
  readonly median: number;
  readonly p90: number;
  /** Files of 12 lines or fewer. */
  readonly small: number;
}

export function countSizes(sources: readonly Source[]): SizeCounts {
  const lines = sources.map(({ text }) => text.split('\n').length - 1).sort((a, b) => a - b);
  const at = (share: number) => lines[Math.max(0, Math.ceil(share * lines.length) - 1)] ?? 0;
  return {
    files: lines.length,
    lines: lines.reduce((sum, count) => sum + count, 0),
    median: at(0.5),
    p90: at(0.9),
    small: lines.filter((count) => count <= 12).length,
  };
}

/** Folders with more than `max` entries: source files and folders. */
export function largeFolders(sources: readonly Source[], max: number): readonly string[] {
  const entries = new Map<string, Set<string>>();
  for (const { path } of sources) {
    for (let entry = path; dirname(entry) !== '.'; entry = dirname(entry)) {
      const folder = dirname(entry);
      entries.set(folder, (entries.get(folder) ?? new Set()).add(entry));
    }
  }
  return [...entries].flatMap(([folder, { size }]) => (size > max ? [`${folder} (${size})`] : [])).sort();
}

export interface ExportCounts {
  /** Names that files export. */
  readonly exports: number;
  /** Those of them that a file of another folder imports. */
  readonly outside: number;
}

const declaration =
  /^export (?:declare )?(?:default )?(?:abstract )?(?:async )?(?:function\*?|class|interface|type|const|let|enum) ([\w$]+)/gm;
const imported = /^(?:import|export) (?:type )?\{([^}]*)\} from '(\.[^']+)'/gm;

/** The exports of each folder, by its path. Prettier's form of the code is what the expressions expect. */
export function countExports(sources: readonly Source[]): ReadonlyMap<string, ExportCounts> {
  const used = new Set<string>();
  for (const { path, text } of sources) {
    for (const [, names = '', from = ''] of text.matchAll(imported)) {
      const file = join(dirname(path), from);
      if (dirname(file) === dirname(path)) continue;
      for (const name of names.split(',')) {
        const [original = ''] = name
          .trim()
          .replace(/^type /, '')
          .split(' as ');
        used.add(`${file} ${original}`);
      }
    }
  }
  const counts = new Map<string, { exports: number; outside: number }>();
  for (const { path, text } of sources) {
    for (const [, name = ''] of text.matchAll(declaration)) {
      const count = counts.get(dirname(path)) ?? { exports: 0, outside: 0 };
      counts.set(dirname(path), count);
      count.exports += 1;
      if (used.has(`${path} ${name}`)) count.outside += 1;
    }
  }
  return counts;
}

/** The classes that extend Error, or a class that does. */
export function errorClasses(sources: readonly Source[]): readonly string[] {
  const parents = new Map<string, string>();
  for (const { text } of sources) {
    for (const [, name = '', parent = ''] of text.matchAll(/\bclass (\w+)(?:<[^>]*>)? extends (\w+)/g))
      parents.set(name, parent);
  }
  const isError = (name: string | undefined): boolean =>
    name !== undefined && (/^(?:\w*Error)$/.test(name) && !parents.has(name) ? true : isError(parents.get(name)));
  return [...parents.keys()].filter((name) => isError(parents.get(name))).sort();
}
