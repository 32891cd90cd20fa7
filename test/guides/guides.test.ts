import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

// Blocks of a guide are what they claim to be, links lead to pages that exist, and the README lists every guide and tier.

const root = new URL('../../', import.meta.url);
const guides = pagesOf('docs/guides');
const pages = [...pagesOf('.'), ...pagesOf('docs'), ...guides, ...pagesOf('docs/decisions'), ...pagesOf('docs/soak')];

/** The paths of the pages in a folder, from the root. */
function pagesOf(path: string): string[] {
  const names = readdirSync(new URL(`${path}/`, root)).filter((name) => name.endsWith('.md'));
  return names.map((name) => (path === '.' ? name : `${path}/${name}`));
}

/** As GitHub makes the anchor of a heading. */
function anchorsOf(path: URL): string[] {
  return [...readFileSync(path, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function leadsSomewhere(link: string, from: URL): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? from : new URL(path, from);
  if (!existsSync(fileURLToPath(target))) return false;
  return anchor === undefined || !target.pathname.endsWith('.md') || anchorsOf(target).includes(anchor);
}

describe.each(guides)('%s', (path) => {
  it('has YAML in its blocks of YAML', () => {
    const blocks = [...read(path).matchAll(/^```ya?ml\n(.*?)^```/gms)].map(([, block = '']) => block);
    const errors = blocks.flatMap((block) => parseAllDocuments(block).flatMap((document) => document.errors));
    expect(errors.map(({ message }) => message)).toEqual([]);
  });
});

it.each(pages)('%s links to pages and headings that exist', (path) => {
  const links = [...read(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  expect(links.filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(link, new URL(path, root)))).toEqual([]);
});

it('the README lists every guide', () => {
  const readme = read('README.md');
  expect(guides.filter((path) => !readme.includes(`](${path})`))).toEqual([]);
});

it('the README names every tier', () => {
  const [, usage = ''] = /usage: \.ci\/tier (\S+)"/.exec(read('.ci/tier')) ?? [];
  const readme = read('README.md');
  expect(usage).not.toBe('');
  expect(usage.split('|').filter((tier) => !readme.includes(`\`${tier}\``))).toEqual([]);
});

function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}
