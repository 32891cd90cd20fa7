import { createServer, request as send, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { s3Client } from '../../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../../support/server/start-server.ts';
import { endVisit, leaveBrowser, newVisitor, openBrowser } from '../open-browser.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const path = '/tools/coffer';

let proxy: Server;
let server: RunningServer;
let browser: Browser;
/** Whether the proxy removes the path. */
let strips = true;

beforeAll(async () => {
  proxy = createServer((incoming, outgoing) => {
    const { url = '/', method, headers } = incoming;
    if (!url.startsWith(path)) {
      outgoing.writeHead(404).end('outside');
      return;
    }
    const to = new URL(server.console);
    const passed = send(
      { host: to.hostname, port: to.port, method, headers, path: (strips ? url.slice(path.length) : url) || '/' },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve);
  });
  server = await startServer({ env: { SVC_BROWSER_REDIRECT_URL: `${outside()}/` } });
  await untilReady(server);
  const s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket: 'docs' }));
  await s3.send(new PutObjectCommand({ Bucket: 'docs', Key: 'folder/a.txt', Body: 'hello' }));
  browser = await openBrowser();
});

afterAll(async () => {
  await leaveBrowser(browser);
  await server?.stop();
  proxy.closeAllConnections();
  proxy.close();
});

function outside(): string {
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${path}`;
}

it.each([
  ['removes', true],
  ['passes on', false],
])('works below a path that the proxy %s', async (_, stripped) => {
  strips = stripped;
  const visitor = await newVisitor(browser, { fresh: true });
  const { page } = visitor;
  await page.goto(outside());
  await page.getByLabel('Access key').fill(server.accessKey);
  await page.getByLabel('Secret key').fill(server.secretKey);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('link', { name: 'docs' }).click();
  await page.getByRole('link', { name: 'folder/' }).click();
  await page.getByText('a.txt').click();
  await page.getByText('hello').waitFor();
  expect(new URL(page.url()).pathname).toBe(`${path}/buckets/docs`);
  await page.reload();
  await page.getByText('hello').waitFor();
  await page.goto(`${outside()}/buckets/docs/settings`);
  await page.getByText('Public access block').first().waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Secret key').waitFor();
  expect(new URL(page.url()).pathname).toBe(`${path}/sign-in`);
  expect(await endVisit(visitor)).toEqual([]);
});
