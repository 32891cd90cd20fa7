import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseSync } from 'vite';

const folder = new URL('../', import.meta.url).pathname;

/** Attributes and properties that users read. */
const read = new Set(
  'label title placeholder description aria-label alt error what words submit add none saved edit done nothing head'.split(
    ' ',
  ),
);

/** Texts that are the same in every language: values, and examples of values. */
const values =
  /^(?:Apache-2\.0|mc batch generate|COLD|us-east-1|PutObject, admin:…|https?:\/\/\S+|www\.example\.com|SSE-\w+|S3|MinIO|Azure Blob Storage|Google Cloud Storage|https?|arn:\S+|gray)$/;

interface Node {
  readonly type: string;
  readonly start: number;
  readonly value?: unknown;
  readonly name?: unknown;
  readonly key?: unknown;
}

/** The texts in a source file that a user reads and that are not in the catalogue, with their lines. */
function literals(file: string): readonly string[] {
  const source = readFileSync(`${folder}${file}`, 'utf8');
  const found: string[] = [];
  const add = (node: Node, text: string) => {
    if (!/\p{Letter}{2}/u.test(text) || values.test(text.trim())) return;
    found.push(`${file}:${source.slice(0, node.start).split('\n').length}: ${text.trim()}`);
  };
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(walk);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    const node = value as Node;
    if (node.type === 'JSXText') add(node, String(node.value));
    if ((node.type === 'JSXAttribute' || node.type === 'Property') && read.has(nameOf(node))) {
      const content = node.value as Node | null;
      if (content?.type === 'Literal' && typeof content.value === 'string') add(content, content.value);
    }
    Object.values(node).forEach(walk);
  };
  walk(parseSync(file, source, { lang: 'tsx' }).program);
  return found;
}

function nameOf({ name, key }: Node): string {
  const named = (name ?? key) as { readonly name?: unknown; readonly value?: unknown };
  return String(named.name ?? named.value);
}

it('has no text of the console outside of its catalogue', () => {
  const files = globSync('**/*.tsx', { cwd: folder });
  expect(files.length).toBeGreaterThan(80);
  expect(files.flatMap(literals)).toEqual([]);
});
