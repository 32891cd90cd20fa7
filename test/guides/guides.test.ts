import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

// What a person copies from a guide is what it claims to be, and where a link leads there is something.

const folder = new URL('../../docs/guides/', import.meta.url);
const guides = readdirSync(folder).filter((name) => name.endsWith('.md'));

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

describe.each(guides)('%s', (name) => {
  const guide = new URL(name, folder);
  const text = readFileSync(guide, 'utf8');

  it('has YAML in its blocks of YAML', () => {
    const blocks = [...text.matchAll(/^```ya?ml\n(.*?)^```/gms)].map(([, block = '']) => block);
    const errors = blocks.flatMap((block) => parseAllDocuments(block).flatMap((document) => document.errors));
    expect(errors.map(({ message }) => message)).toEqual([]);
  });

  it('links to pages and headings that there are', () => {
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    expect(links.filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(link, guide))).toEqual([]);
  });
});
