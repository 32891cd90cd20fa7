import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectRaw } from '../../../test/support/process/raw-http.ts';
import { TestBrowser, TestConsole } from '../../../test/support/console/test-console.ts';

interface Layer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
  readonly handle?: { readonly stack?: readonly Layer[] };
}

/** Every route of the API: those of the application itself stand less deep. */
function routesOf(layers: readonly Layer[], depth = 0): [method: string, path: string][] {
  return layers.flatMap(({ route, handle }) => {
    if (route === undefined) return routesOf(handle?.stack ?? [], depth + 1);
    const methods = Object.keys(route.methods).map((method) => method.toUpperCase());
    return depth < 2 ? [] : methods.map((method): [string, string] => [method, `/api${route.path}`]);
  });
}

/** They ask for no right: their bodies are read, and bounded by `limit-body-memory`. */
const withoutRights = new Set([
  // The body proves who asks.
  'POST /api/sign-in',
  'POST /api/sign-in-by-directory',
  // It says what a document means, of whatever a person may write one for.
  'POST /api/policy-check',
  // It has no body.
  'POST /api/sign-out',
]);

let test: TestConsole;
let cookie: string;

/** Ann may do nothing, not even for herself. */
beforeAll(async () => {
  test = await TestConsole.start();
  await test.stores.layer.createBucket('bucket', { location: '' });
  const ann = { accessKey: 'ann', secretKey: 'ann-password' };
  await test.identities.putUser(ann);
  const Statement = [{ Effect: 'Deny', Action: '*', Resource: '*' }];
  await test.identities.putPolicy('nothing', JSON.stringify({ Version: '2012-10-17', Statement }));
  await test.identities.attach({ kind: 'user', name: 'ann' }, ['nothing']);
  await test.identities.createServiceAccount({ subject: { kind: 'user', name: 'ann' }, accessKey: 'anns-key' });
  const browser = new TestBrowser(test.url);
  expect((await browser.signIn(ann)).status).toBe(200);
  cookie = `coffer_session=${browser.cookie('coffer_session')}`;
});
afterAll(() => test.close());

const all = async () => {
  const app = (await start()).listener as { readonly router: { readonly stack: readonly Layer[] } };
  return routesOf(app.router.stack);
};
const started: TestConsole[] = [];
async function start() {
  const console = await TestConsole.start();
  started.push(console);
  return console;
}
const routes = (await all()).filter(([method]) => ['POST', 'PUT', 'PATCH'].includes(method));
afterAll(() => Promise.all(started.map((console) => console.close())));

describe('a user without rights', () => {
  it('is tried with every call', () => {
    expect(routes.length).toBeGreaterThan(20);
    const names = new Set(routes.map((route) => route.join(' ')));
    expect([...withoutRights].filter((name) => !names.has(name))).toEqual([]);
  });

  it.each(routes.filter((route) => !withoutRights.has(route.join(' '))))(
    'is refused %s %s though none of its body comes',
    async (method, path) => {
      const connection = connectRaw(test.url);
      const target = `${path.replace(':bucket', 'bucket')}?name=ann&key=anns-key&type=openid`;
      const head = [`${method} ${target} HTTP/1.1`, 'Host: test', `Cookie: ${cookie}`, 'X-Coffer-Console: 1'];
      connection.send(`${head.join('\r\n')}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`);
      expect(await connection.until('\r\n\r\n')).toMatch(/^HTTP\/1.1 403 /);
      connection.socket.destroy();
    },
  );
});
