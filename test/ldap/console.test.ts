import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SessionAnswer, SignInOptions } from '../../protocol/console/answers.ts';
import { TestBrowser } from '../support/console/test-console.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { directorySettings, removeSlapd, type Slapd, startSlapd } from './start-slapd.ts';
import { ann, people, readers } from './people.ts';

let slapd: Slapd;
let server: RunningServer;
let root: TestBrowser;
let browser: TestBrowser;

beforeAll(async () => {
  slapd = await startSlapd(people);
  server = await startServer({ env: directorySettings(slapd) });
  await untilReady(server);
  root = new TestBrowser(server.console);
  await root.signIn(server);
}, 180_000);
afterAll(async () => {
  await server?.stop();
  await removeSlapd(slapd);
});
beforeEach(() => {
  browser = new TestBrowser(server.console);
});

const signIn = (name = 'ann', password = 'ann-password') =>
  browser.send('POST', '/api/sign-in-by-directory', { json: { name, password } });

const attach = (change: 'attach' | 'detach') =>
  root.send('POST', `/api/policy/${change}?name=readonly`, { json: { kind: 'ldap-group', name: readers } });

const refusalOf = async (response: Response) => ({
  status: response.status,
  message: ((await response.json()) as { message: string }).message,
});

describe('the console by a directory', () => {
  it('offers it, and signs people in with what is attached to their groups', async () => {
    const options = (await (await browser.send('GET', '/api/sign-in-options')).json()) as SignInOptions;
    expect(options.directory).toBe(true);
    expect((await attach('attach')).status).toBe(204);
    const session = (await (await signIn()).json()) as SessionAnswer;
    expect(session).toMatchObject({ name: 'ann', signedInBy: { kind: 'directory' } });
    expect(session.policies.map(({ name }) => name)).toEqual(['readonly']);
    expect((await browser.send('GET', '/api/buckets')).status).toBe(200);
    await attach('detach');
  });

  it('tells those to whom nothing is attached who they are, and nobody else anything', async () => {
    const lacking = await refusalOf(await signIn());
    expect(lacking).toMatchObject({ status: 401, message: expect.stringContaining(ann) as string });
    const wrong = await refusalOf(await signIn('ann', 'wrong'));
    expect(wrong).toEqual({ status: 401, message: 'The directory does not know this name with this password.' });
    expect(await refusalOf(await signIn('nobody', 'wrong'))).toEqual(wrong);
    expect(server.log.some((line) => line.includes('ann-password'))).toBe(false);
  });

  it('says that the directory is away, and lets people in once it is back', async () => {
    await attach('attach');
    await slapd.stop();
    const away = await refusalOf(await signIn());
    expect(away).toMatchObject({ status: 503, message: expect.stringContaining('does not answer') as string });
    expect(away.message).not.toContain(slapd.tls);
    await slapd.start();
    expect((await signIn()).status).toBe(200);
    await attach('detach');
  });
});
