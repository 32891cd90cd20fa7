import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const source = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The findings of axe on the page as it is, by rule and element. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>('window.axe !== undefined'))) await page.evaluate(await source);
  // axe would describe every element that passes too.
  const options = JSON.stringify({ resultTypes: ['violations'] });
  const results = await page.evaluate<AxeResults>(`axe.run(${options}).then(({ violations }) => ({ violations }))`);
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${String(target)} ${failureSummary ?? ''}`),
  );
}
