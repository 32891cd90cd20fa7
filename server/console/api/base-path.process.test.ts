import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OpenIdProviderDouble } from '../../../test/support/openid/openid-provider.ts';
import { TestBrowser, TestConsole } from '../../../test/support/console/test-console.ts';

let webFolder: string;
let provider: OpenIdProviderDouble;
let console: TestConsole;

beforeEach(async () => {
  webFolder = await mkdtemp(join(tmpdir(), 'coffer-web-'));
  await writeFile(
    join(webFolder, 'index.html'),
    '<meta name="coffer-base" content="" /><link href="./logo.svg" /><script src="./assets/index.js"></script>',
  );
  provider = await OpenIdProviderDouble.start();
  console = await TestConsole.start({
    openid: [{ id: 'DEMO', configUrl: provider.configUrl }],
    settings: { webFolder, browserUrl: 'https://example.com/tools/coffer/' },
  });
});
afterEach(async () => {
  await console.close();
  await provider.close();
  await rm(webFolder, { recursive: true, force: true });
});

const get = (path: string) => fetch(`${console.url}${path}`, { redirect: 'manual' });

describe('a console below a path of its host', () => {
  it.each(['/', '/buckets/docs/settings', '/tools/coffer/', '/tools/coffer', '/tools/coffer/buckets?x=1'])(
    'sends the page for %s with URLs below the path',
    async (path) => {
      expect(await (await get(path)).text()).toBe(
        '<meta name="coffer-base" content="/tools/coffer" /><link href="/tools/coffer/logo.svg" />' +
          '<script src="/tools/coffer/assets/index.js"></script>',
      );
    },
  );

  it.each(['/api/sign-in-options', '/tools/coffer/api/sign-in-options'])('answers %s', async (path) => {
    expect((await get(path)).status).toBe(200);
  });

  it('does not take a longer name for its path', async () => {
    expect((await get('/tools/coffer-other/api/sign-in-options')).headers.get('content-type')).toContain('text/html');
  });

  it('sends browsers to its own pages', async () => {
    expect((await get('/oauth_callback')).headers.get('location')).toBe('/tools/coffer/sign-in');
    expect((await get('/oauth_callback?state=x&code=y')).headers.get('location')).toBe('/tools/coffer/sign-in');
  });

  it('names the path to the provider', async () => {
    const begun = await get('/api/sign-in/DEMO?hop=1&to=%2Fbuckets');
    const location = new URL(begun.headers.get('location') ?? '');
    expect(location.searchParams.get('redirect_uri')).toBe('https://example.com/tools/coffer/oauth_callback');
  });
});

it('at the root of its host has no path', async () => {
  const plain = await TestConsole.start({ settings: { webFolder } });
  const browser = new TestBrowser(plain.url);
  expect(await (await browser.send('GET', '/buckets')).text()).toContain('src="/assets/index.js"');
  await plain.close();
});
