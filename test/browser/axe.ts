import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';

const source = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules that depend on colours. They take half of the time of axe. */
const colours = ['color-contrast', 'link-in-text-block'];
/** The rule that depends on the style sheets alone, which axe loads once more for it. */
const styleSheets = 'css-orientation-lock';

const parts = {
  all: {},
  /** For a page in another colour scheme, of which axe has seen the rest. */
  colours: { runOnly: colours },
  /** For a page in another language, of which axe has seen the colours. */
  texts: { rules: Object.fromEntries([...colours, styleSheets].map((rule) => [rule, { enabled: false }])) },
} satisfies Readonly<Record<string, RunOptions>>;

/** The findings of axe on the page as it is, by rule and element. */
export async function axeFindings(page: Page, part: keyof typeof parts = 'all'): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>('window.axe !== undefined'))) await page.evaluate(await source);
  // axe would describe every element that passes too.
  const options: RunOptions = { resultTypes: ['violations'], ...parts[part] };
  const results = await page.evaluate<AxeResults>(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => ({ violations }))`,
  );
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${String(target)} ${failureSummary ?? ''}`),
  );
}
