import type { Page } from 'playwright-core';

/** What can be pressed or filled in and has no name for those who cannot see it; the name is what Chromium itself makes of it. */
export async function unnamedControls(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  try {
    const { nodes } = await session.send('Accessibility.getFullAXTree');
    return nodes
      .filter(({ ignored, role }) => !ignored && controls.has(String(role?.value)))
      .filter(({ name }) => String(name?.value ?? '').trim() === '')
      .map(({ role, nodeId }) => `${String(role?.value)} ${nodeId}`);
  } finally {
    await session.detach();
  }
}

const controls = new Set([
  'button',
  'link',
  'textbox',
  'combobox',
  'checkbox',
  'switch',
  'radio',
  'radiogroup',
  'tab',
  'menuitem',
  'dialog',
  'region',
  'progressbar',
]);
