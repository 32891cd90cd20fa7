import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

// The README, the guides and the decisions name files of the repository. A file that moves or goes must take its name along.

const root = fileURLToPath(new URL('../..', import.meta.url));
const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 })
  .trim()
  .split('\n');
const folders = new Set(tracked.flatMap((path) => path.split('/').map((_, at, parts) => parts.slice(0, at).join('/'))));
const names = new Set(tracked.map((path) => path.slice(path.lastIndexOf('/') + 1)));
const tops = [...new Set(tracked.filter((path) => path.includes('/')).map((path) => path.slice(0, path.indexOf('/'))))];

/** A path from the root, such as `server/main.ts` or `docs/guides/`; it may end in a pattern with `*` or `{a,b}`. */
const fromRoot = new RegExp(
  `(?<![\\w./@:~-])(?:${tops.map((top) => top.replace('.', '\\.')).join('|')})/[\\w./*{},-]*`,
  'g',
);
/** The name of a source file alone, such as `route-table.ts`. */
const sourceFile = /(?<![\w./*-])[a-z][\w.-]*\.(?:tsx?|py|go)\b(?!\.)/g;

/** A full run of the gate writes it. */
const written = ['.ci/last-full'];

function exists(path: string): boolean {
  const bare = path.replace(/[.,]+$/, '').replace(/\/$/, '');
  if (/[*{]/.test(bare)) {
    const pattern = bare
      .replaceAll(/[.+^$()|[\]\\]/g, String.raw`\$&`)
      .replaceAll(/\{([^}]*)\}/g, (_, list: string) => `(?:${list.replaceAll(',', '|')})`)
      .replaceAll('**', '\0')
      .replaceAll('*', '[^/]*')
      .replaceAll('\0', '.*');
    const matcher = new RegExp(`^${pattern}(?:/|$)`);
    return tracked.some((file) => matcher.test(file));
  }
  return folders.has(bare) || tracked.includes(bare) || written.includes(bare);
}

/** The code spans of a page, without its blocks: those hold what a reader types, or files that the reader writes. */
function codeSpans(text: string): readonly string[] {
  const prose = text.replaceAll(/^```[^]*?^```/gm, '');
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
}

const pages = tracked.filter((path) => /^(?:README|CONTRIBUTING|ARCHITECTURE|SECURITY)\.md$|^docs\/.*\.md$/.test(path));

describe.each(pages)('%s', (page) => {
  const spans = codeSpans(readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8'));

  it('names only files and folders that exist', () => {
    const paths = spans.flatMap((span) => span.match(fromRoot) ?? []).filter((path) => !exists(path));
    const files = spans
      .flatMap((span) => (span.includes('/') ? [] : (span.match(sourceFile) ?? [])))
      .filter((name) => !names.has(name));
    expect([...paths, ...files]).toEqual([]);
  });
});
