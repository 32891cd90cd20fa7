import type { Page } from 'playwright-core';
import type { RunningServer } from '../support/server/start-server.ts';

export type SignInServer = Pick<RunningServer, 'console' | 'accessKey' | 'secretKey'>;

/**
 * Gives the profile of a page a session by keys, by default those of root, without a form: `console.test.ts` tests the form, which
 * costs a document more.
 */
export async function startSession(
  page: Page,
  server: SignInServer,
  accessKey = server.accessKey,
  secretKey = server.secretKey,
): Promise<void> {
  await send(page, server, 'POST', 'sign-in', { accessKey, secretKey });
}

/** Sends a form to the console in the session of a page. */
export async function send(
  page: Page,
  server: Pick<SignInServer, 'console'>,
  method: string,
  path: string,
  data: object,
): Promise<void> {
  const headers = { 'x-coffer-console': '1' };
  const answer = await page.context().request.fetch(`${server.console}/api/${path}`, { method, headers, data });
  if (!answer.ok()) throw new Error(`${method} ${path}: ${answer.status()} ${await answer.text()}`);
}

/** Starts a session and opens the page of the buckets. */
export async function signIn(page: Page, server: SignInServer, accessKey?: string, secretKey?: string): Promise<void> {
  await startSession(page, server, accessKey, secretKey);
  await page.goto(`${server.console}/buckets`);
  await page.getByRole('link', { name: 'Account' }).waitFor();
}

/** Signs in by the form of the sign-in page, with the keys of root. */
export async function signInByForm(page: Page, server: SignInServer): Promise<void> {
  await page.goto(`${server.console}/sign-in`);
  await page.getByLabel('Access key').fill(server.accessKey);
  await page.getByLabel('Secret key').fill(server.secretKey);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}
