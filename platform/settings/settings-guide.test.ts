import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { settingsGuide } from './settings-guide.ts';

it('is what docs/guides/settings.md holds; if not, run "npm run docs"', () => {
  expect(readFileSync(new URL('../../docs/guides/settings.md', import.meta.url), 'utf8')).toBe(settingsGuide());
});
