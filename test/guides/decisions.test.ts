import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const folder = new URL('../../docs/decisions/', import.meta.url);
const root = new URL('../../', import.meta.url);
const names = readdirSync(folder).filter((name) => /^\d{4}-/.test(name));
const list = readFileSync(new URL('README.md', folder), 'utf8');

describe.each(names)('docs/decisions/%s', (name) => {
  const lines = readFileSync(new URL(name, folder), 'utf8').split('\n');

  it('has its number, a date, a status and the headings of every decision', () => {
    expect(lines[0]).toMatch(new RegExp(`^# ${Number(name.slice(0, 4))}\\. `));
    expect(lines[2]).toMatch(/^Date: \d{4}-\d\d-\d\d\. Status: (accepted|replaced by .*)\./);
    const headings = lines.filter((line) => line.startsWith('## '));
    const known = ['## Context', '## Decision', '## Consequences', '## Considered'];
    expect(headings).toEqual(known.filter((heading) => headings.includes(heading)));
    expect(headings.slice(0, 2)).toEqual(known.slice(0, 2));
  });

  it('is in the list, and names code that is there', () => {
    expect(list).toContain(`](${name})`);
    const code = [...(lines[2]?.split('Code: ')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);
    expect(code.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });
});
