import type { Locator, Page } from 'playwright-core';

/** Does the steps of a job, and counts them. A step is a click, or a key of intent: Tab and the arrows that lead to a control are no steps. */
export interface Hands {
  readonly name: 'mouse' | 'keyboard';
  readonly steps: number;
  /** Presses a button, opens a link, or turns a switch. */
  press(target: Locator): Promise<void>;
  /** Opens a menu and chooses an item. */
  choose(menu: Locator, item: string): Promise<void>;
  /** Opens a tab of the page. */
  tab(target: Locator): Promise<void>;
  /** Replaces the text of a field. */
  type(field: Locator, text: string): Promise<void>;
  /** Sends the form of the field that has the focus. */
  enter(): Promise<void>;
}

export function mouse(page: Page): Hands {
  let steps = 0;
  return {
    name: 'mouse',
    get steps() {
      return steps;
    },
    async press(target) {
      // A switch is an input below its picture, which takes the click of a user.
      await target.click({ force: (await target.and(page.locator('[role=switch], [type=radio]')).count()) > 0 });
      steps += 1;
    },
    async choose(menu, item) {
      await menu.click();
      await page.getByRole('menuitem', { name: item, exact: true }).click();
      steps += 2;
    },
    async tab(target) {
      await target.click();
      steps += 1;
    },
    async type(field, text) {
      await field.fill(text);
      steps += 1;
    },
    async enter() {
      await page.keyboard.press('Enter');
      steps += 1;
    },
  };
}

export function keyboard(page: Page): Hands {
  let steps = 0;

  /**
   * Waits until a dialog that opens has the focus for good. Mantine moves it twice, by a timer each: a key that is pressed between them would
   * be that of the button `Cancel`. No user is as fast.
   */
  async function dialogHasFocus(): Promise<void> {
    if ((await page.getByRole('dialog').count()) === 0) return;
    await page.waitForFunction('!document.querySelector("[role=dialog]:not(:focus-within)")');
    await page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))',
    );
  }

  /** Presses a key until the control has the focus, as a user does who sees where the focus is. */
  async function moveTo(target: Locator, key: string): Promise<void> {
    await target.waitFor({ state: 'attached' });
    await dialogHasFocus();
    for (let pressed = 0; pressed < 150; pressed += 1) {
      if ((await target.and(page.locator(':focus')).count()) > 0) return;
      await page.keyboard.press(key);
    }
    throw new Error(`the key ${key} does not reach ${String(target)}`);
  }

  return {
    name: 'keyboard',
    get steps() {
      return steps;
    },
    async press(target) {
      await moveTo(target, 'Tab');
      const turns = await target.and(page.locator('[role=switch], [type=checkbox], [type=radio]')).count();
      await page.keyboard.press(turns > 0 ? 'Space' : 'Enter');
      steps += 1;
    },
    async choose(menu, item) {
      await moveTo(menu, 'Tab');
      await page.keyboard.press('Enter');
      const target = page.getByRole('menuitem', { name: item, exact: true });
      await target.waitFor();
      await moveTo(target, 'ArrowDown');
      await page.keyboard.press('Enter');
      steps += 2;
    },
    async tab(target) {
      // The tabs are one stop of Tab; the arrows go between them and open them.
      await target.waitFor();
      await moveTo(page.getByRole('tab', { selected: true }).first(), 'Tab');
      await moveTo(target, 'ArrowRight');
      steps += 1;
    },
    async type(field, text) {
      await moveTo(field, 'Tab');
      await page.keyboard.press('Control+A');
      await page.keyboard.insertText(text);
      steps += 1;
    },
    async enter() {
      await page.keyboard.press('Enter');
      steps += 1;
    },
  };
}
