import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { renderTable } from './copy-table.ts';

it('the guide has the table that the walks of this folder expect', async () => {
  const guide = await readFile(new URL('../../docs/guides/copies.md', import.meta.url), 'utf8');
  const [, table = ''] = guide.split('<!-- test/copies/copy-table.ts -->\n');
  const rows = table
    .trim()
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').slice(1, -1));
  const cells = rows.filter((_, index) => index !== 1).map((row) => row.map((cell) => cell.trim()));
  expect(cells.slice(0, renderTable().length)).toEqual(renderTable());
});
