import { CreateBucketCommand, ListObjectsV2Command, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { adminCall } from '../support/server/admin-call.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';
import { endVisit, leaveBrowser, newVisitor, openBrowser, type Visitor } from './open-browser.ts';
import { signIn } from './sign-in.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

/** The pages that are not for every user, with the right that each names. Neighbours name different ones. */
const administration = [
  ['users', 'admin:ListUsers'],
  ['user?name=other', 'admin:GetUser'],
  ['groups', 'admin:ListGroups'],
  ['group?name=some', 'admin:GetGroup'],
  ['policies', 'admin:ListUserPolicies'],
  ['policies/new', 'admin:CreatePolicy'],
  ['policy?name=readonly', 'admin:GetPolicy'],
  ['identity-providers', 'admin:ConfigUpdate'],
  ['sessions', 'admin:ListSessions'],
  ['identity-providers/new', 'admin:ConfigUpdate'],
  ['explain', 'admin:ExplainPolicy'],
  ['identity-provider?type=openid&name=x', 'admin:ConfigUpdate'],
  ['status', 'admin:ServerInfo'],
  ['traffic', 'admin:Prometheus'],
  ['requests', 'admin:ServerTrace'],
  ['logs', 'admin:ConsoleLog'],
  ['audit', 'admin:ReadAuditLog'],
  ['work', 'admin:ServerInfo'],
  ['batch-jobs', 'admin:ListBatchJobs'],
  ['tiers', 'admin:ListTier'],
  ['keys', 'kms:Status'],
  ['configuration', 'admin:ConfigUpdate'],
] as const;

const onePrefix = {
  Version: '2012-10-17',
  Statement: [
    {
      Effect: 'Allow',
      Action: 's3:ListBucket',
      Resource: 'arn:aws:s3:::team',
      Condition: { StringLike: { 's3:prefix': ['', 'ann/*'] } },
    },
    {
      Effect: 'Allow',
      Action: ['s3:GetObject', 's3:PutObject', 's3:DeleteObject'],
      Resource: 'arn:aws:s3:::team/ann/*',
    },
  ],
};

let server: RunningServer;
let browser: Browser;
let s3: S3Client;

async function asRoot(method: string, call: string, body?: unknown): Promise<void> {
  const { status, value } = await adminCall(server.s3, server, method, call, body);
  expect([200, 204], JSON.stringify(value)).toContain(status);
}

async function addUser(name: string, policy?: string): Promise<void> {
  await asRoot('PUT', `add-user?accessKey=${name}`, { secretKey: `${name}-secret`, status: 'enabled' });
  if (policy !== undefined) await asRoot('POST', 'idp/builtin/policy/attach', { policies: [policy], user: name });
}

beforeAll(async () => {
  server = await startServer();
  await untilReady(server);
  s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket: 'team' }));
  for (const Key of ['ann/a.txt', 'other/b.txt', 'top.txt']) {
    await s3.send(new PutObjectCommand({ Bucket: 'team', Key, Body: Key, ContentType: 'text/plain' }));
  }
  await asRoot('PUT', 'add-canned-policy?name=one-prefix', Buffer.from(JSON.stringify(onePrefix)));
  await addUser('reader', 'readonly');
  await addUser('ann', 'one-prefix');
  const lookers = { Effect: 'Allow', Action: ['admin:ListGroups', 'admin:GetGroup'] };
  const document = { Version: '2012-10-17', Statement: [lookers] };
  await asRoot('PUT', 'add-canned-policy?name=list-groups', Buffer.from(JSON.stringify(document)));
  await addUser('groups-reader', 'list-groups');
  await addUser('nobody');
  await addUser('other');
  browser = await openBrowser();
});

afterAll(async () => {
  await leaveBrowser(browser);
  await server?.stop();
});

const patient = { timeout: 180_000 };

/** Calls that change something, or show what is not for every user. The prefix is one that none of the users may touch. */
const forged: readonly (readonly [method: string, call: string, body?: unknown])[] = [
  ['POST', 'users', { name: 'x' }],
  ['GET', 'users'],
  ['GET', 'user?name=other'],
  ['DELETE', 'user?name=other'],
  ['PUT', 'user/status?name=other', { status: 'disabled' }],
  ['PUT', 'user/policies?name=other', { policies: { add: ['consoleAdmin'], remove: [] } }],
  ['PUT', 'user/groups?name=other', { groups: { add: ['x'], remove: [] } }],
  ['PUT', 'user/secret-key?name=other', { secretKey: 'another-secret' }],
  ['POST', 'groups', { name: 'x', members: [] }],
  ['GET', 'groups'],
  ['GET', 'group?name=some'],
  ['DELETE', 'group?name=some'],
  ['PUT', 'group/members?name=some', { members: { add: ['other'], remove: [] } }],
  ['PUT', 'group/policies?name=some', { policies: { add: ['consoleAdmin'], remove: [] } }],
  ['PUT', 'group/status?name=some', { status: 'disabled' }],
  ['GET', 'policies'],
  ['GET', 'policy?name=readonly'],
  ['PUT', 'policy?name=mine', { document: JSON.stringify(onePrefix) }],
  ['DELETE', 'policy?name=one-prefix'],
  ['POST', 'policy/attach?name=consoleAdmin', { holder: { kind: 'user', name: 'other' } }],
  ['POST', 'policy/detach?name=readonly', { holder: { kind: 'user', name: 'reader' } }],
  ['POST', 'access-keys', { owner: 'other' }],
  ['GET', 'access-keys?of=all'],
  ['GET', 'sessions'],
  ['DELETE', 'sessions?id=x'],
  [
    'POST',
    'explain',
    { who: { kind: 'name', name: 'other' }, action: 's3:GetObject', resource: 'team/a', context: {} },
  ],
  ['GET', 'reached-buckets?name=other'],
  ['GET', 'buckets/team/reach'],
  ['GET', 'buckets/team/growth'],
  ['GET', 'identity-providers'],
  ['POST', 'identity-providers', {}],
  ['DELETE', 'identity-provider?type=openid&name=x'],
  ['GET', 'status'],
  ['GET', 'health'],
  ['GET', 'metrics'],
  ['GET', 'usage-history'],
  ['GET', 'audit'],
  ['GET', 'work'],
  ['PUT', 'work/pause', { task: 'scrub', minutes: 1 }],
  ['POST', 'buckets', { name: 'forged' }],
  ['DELETE', 'buckets/team'],
  ['PUT', 'buckets/team/encryption', { scheme: 'SSE-S3' }],
  ['DELETE', 'buckets/team/encryption'],
  ['GET', 'buckets/team/objects?prefix=other/'],
  ['DELETE', 'buckets/team/objects?prefix=other/'],
  ['DELETE', 'buckets/team/object?key=top.txt'],
  ['GET', 'buckets/team/share?key=top.txt&method=PUT'],
  ['POST', 'buckets/team/lifecycle-preview', { document: '<LifecycleConfiguration/>' }],
  ['PUT', 's3/team?key=other/forged', 'x'],
  ['DELETE', 's3/team?key=top.txt'],
  ['GET', 's3/team?versions='],
  ['PUT', 's3/team?versioning=', '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'],
  ['PUT', 's3/team?policy=', '{}'],
  ['DELETE', 's3/team?policy='],
  ['GET', 'admin/info'],
  ['GET', 'admin/trace?s3=true'],
  ['GET', 'admin/log'],
  ['GET', 'admin/export-iam'],
  ['POST', 'admin/service?action=restart'],
  ['PUT', 'admin/set-config-kv', 'site name=x'],
  ['PUT', 'admin/set-bucket-quota?bucket=team', { quota: 1, quotatype: 'hard' }],
  ['GET', 'admin/kms/key/list?pattern=*'],
  ['POST', 'admin/kms/key/create?key-id=x'],
  ['GET', 'admin/coffer/batch-jobs'],
  ['POST', 'admin/start-job', 'expire: {apiVersion: v1, bucket: team, rules: [{type: object}]}'],
  ['DELETE', 'admin/cancel-job?id=x'],
  ['GET', 'admin/tier'],
  ['PUT', 'admin/tier', {}],
  ['DELETE', 'admin/tier/COLD'],
  ['POST', 'admin/coffer/snapshot?name=x'],
  ['POST', 'admin/coffer/read-only?on=true'],
];

/** Sends a call as a script in the page would, and returns its status. */
function forge({ page }: Walker, method: string, call: string, body?: unknown): Promise<number> {
  const headers = {
    'x-coffer-console': '1',
    ...(typeof body === 'object' ? { 'content-type': 'application/json' } : {}),
  };
  const sent = typeof body === 'object' ? JSON.stringify(body) : body;
  const options = JSON.stringify({ method, headers, body: sent });
  return page.evaluate<number>(`fetch('/api/${call}', ${options}).then((answer) => answer.status)`);
}

interface Seen {
  readonly controls: readonly string[];
  /** The calls that the page sent and the server refused. */
  readonly refused: readonly string[];
}

/** A user who walks through the pages. */
class Walker {
  readonly #visitor: Visitor;
  #rejected: string[] = [];

  private constructor(visitor: Visitor) {
    this.#visitor = visitor;
    visitor.page.on('response', (response) => {
      const { pathname } = new URL(response.url());
      if (response.status() === 403) this.#rejected.push(`${response.request().method()} ${pathname}`);
    });
  }

  static async signIn(name: string): Promise<Walker> {
    const visitor = await newVisitor(browser);
    await signIn(visitor.page, server, name, `${name}-secret`);
    // The modules of the first page may still come: the next page must not break off their loading.
    await visitor.untilAnswered();
    return new Walker(visitor);
  }

  untilAnswered(): Promise<void> {
    return this.#visitor.untilAnswered();
  }

  get page(): Page {
    return this.#visitor.page;
  }

  async open(path: string): Promise<Seen> {
    this.#rejected = [];
    await this.page.goto(`${server.console}/${path}`);
    await this.page.locator('#content').getByRole('heading').or(this.page.getByRole('alert')).first().waitFor();
    await expect.poll(() => this.page.getByLabel('Loading').count(), { timeout: 180_000 }).toBe(0);
    await this.untilAnswered();
    return { controls: await this.controls(), refused: [...new Set(this.#rejected)] };
  }

  /** Follows a link of the page. */
  async go(path: string): Promise<void> {
    const [url, event] = [JSON.stringify(`/${path}`), 'new PopStateEvent("popstate")'];
    await this.page.evaluate(`history.pushState(null, '', ${url}); dispatchEvent(${event})`);
  }

  /** The names of what can be pressed in the content of the page. */
  async controls(): Promise<readonly string[]> {
    const found = this.page.locator(
      '#content :is(button, [role=menuitem], [role=switch], input[type=checkbox]):visible:not(:disabled)',
    );
    const names = await found.evaluateAll((all) =>
      all.map((one) => one.getAttribute('aria-label') ?? (one.textContent?.trim() || one.id)),
    );
    return names;
  }

  async end(): Promise<void> {
    expect(await endVisit(this.#visitor)).toEqual([]);
  }
}

async function menuOf(walker: Walker, name: string): Promise<readonly string[]> {
  const { page } = walker;
  await page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click();
  await page.getByRole('menu').waitFor();
  await expect.poll(() => page.getByText('Asking what you may do…').count(), patient).toBe(0);
  const items = await page.getByRole('menu').getByRole('menuitem').allInnerTexts();
  const note = await page.getByRole('menu').getByText('Your policies allow nothing more here.').count();
  await page.keyboard.press('Escape');
  await page.getByRole('menu').waitFor({ state: 'detached' });
  return note > 0 ? ['nothing'] : items;
}

const path = 'Type a path or key';

async function markedActions(walker: Walker, name: string): Promise<readonly string[]> {
  await walker.page.getByLabel(`Mark ${name}`, { exact: true }).check();
  const toolbar = walker.page.getByRole('toolbar', { name: 'Marked rows' });
  await expect.poll(() => toolbar.getAttribute('aria-busy'), patient).toBe('false');
  const buttons = await toolbar.getByRole('button').allInnerTexts();
  await walker.page.getByLabel(`Mark ${name}`, { exact: true }).uncheck();
  return buttons;
}

describe.each(['reader', 'ann', 'nobody'])('the pages that %s sees', (name) => {
  let walker: Walker;

  beforeAll(async () => {
    walker = await Walker.signIn(name);
  });

  afterAll(() => walker?.end());

  it('are linked where something of them is shown', async () => {
    const rail = walker.page.getByRole('navigation', { name: 'Console' }).getByRole('link');
    expect(await rail.allInnerTexts()).toEqual(['Coffer', 'Buckets', 'Access keys', 'Account']);
  });

  it('have no button of administrators, and say which right they need', async () => {
    for (const [page, right] of administration) {
      await walker.go(page);
      await walker.page.locator('#content').getByText(right).first().waitFor();
      expect.soft(await walker.controls(), page).toEqual([]);
    }
  });

  it('are those of the own account', async () => {
    // A user may make own access keys unless a policy denies it.
    const own = {
      buckets: name === 'reader' ? ['Actions for team'] : [],
      'access-keys': ['Create access key'],
      account: ['New secret key…', `Copy ${name}`],
    };
    for (const [page, controls] of Object.entries(own)) {
      expect.soft(await walker.open(page), page).toEqual({ controls, refused: [] });
    }
  });

  it('refuse forged calls', async () => {
    for (const [method, call, body] of forged) expect.soft(await forge(walker, method, call, body), call).toBe(403);
    const keys = ((await s3.send(new ListObjectsV2Command({ Bucket: 'team' }))).Contents ?? []).map(({ Key }) => Key);
    expect(keys).toEqual(['ann/a.txt', 'other/b.txt', 'top.txt']);
  });
});

describe('a bucket', () => {
  it('shows a user with `readonly` the objects whose keys are known, to be read', async () => {
    const walker = await Walker.signIn('reader');
    await walker.open('buckets');
    expect(await menuOf(walker, 'team')).toEqual(['nothing']);
    expect((await walker.open('buckets/team')).controls).toEqual([path, 'Open']);
    const { controls } = await walker.open('buckets/team?object=top.txt');
    expect(controls.filter((one) => !one.startsWith('Copy '))).toEqual([
      path,
      'Open',
      'Close details',
      'Details',
      'Properties',
      'Download',
      'Share…',
    ]);
    await walker.page.getByRole('tab', { name: 'Properties' }).click();
    await walker.untilAnswered();
    expect((await walker.controls()).filter((one) => /edit|add|remove|set/i.test(one))).toEqual([]);
    expect(await walker.open('buckets/team/settings')).toEqual({ controls: [], refused: [] });
    await walker.end();
  });

  it('offers a user with rights on one prefix what may be done there, and nothing beside it', async () => {
    const walker = await Walker.signIn('ann');
    const top = await walker.open('buckets/team');
    expect(top.refused).toEqual([]);
    expect(top.controls).not.toContain('Upload');
    expect(top.controls).not.toContain('Folder…');
    expect(await menuOf(walker, 'other/')).toEqual(['nothing']);
    expect(await menuOf(walker, 'top.txt')).toEqual(['nothing']);
    expect(await menuOf(walker, 'ann/')).toEqual(['Download as zip', 'Move…', 'Copy…', 'Delete…']);
    expect(await markedActions(walker, 'top.txt')).toEqual(['Clear']);
    expect(await markedActions(walker, 'ann/')).toEqual(['Download as zip', 'Move…', 'Copy…', 'Delete…', 'Clear']);
    const inside = await walker.open('buckets/team?prefix=ann/');
    expect(inside.refused).toEqual([]);
    expect(inside.controls).toEqual(expect.arrayContaining(['Upload', 'Folder…', 'Download a.txt']));
    expect(await menuOf(walker, 'a.txt')).toEqual(['Share…', 'Rename…', 'Move…', 'Copy…', 'Delete…']);
    expect((await walker.open('buckets/team?prefix=other/')).controls).toEqual([path]);
    expect(await walker.open('buckets/team/settings')).toEqual({ controls: [], refused: [] });
    await walker.end();
  });

  it('shows a user without rights nothing but why', async () => {
    const walker = await Walker.signIn('nobody');
    for (const place of ['', '?prefix=ann/', '?object=top.txt']) {
      expect((await walker.open(`buckets/team${place}`)).controls).toEqual([path]);
      await walker.page.getByText('No policy of yours allows s3:ListBucket on team.').first().waitFor();
    }
    expect((await walker.open('buckets/team/settings')).controls).toEqual([]);
    await walker.end();
  });
});

describe('an empty list', () => {
  it('says which right its first row needs', async () => {
    const walker = await Walker.signIn('groups-reader');
    await walker.open('groups');
    await walker.page.getByText('To create one you need the right admin:AddUserToGroup.').waitFor();
    await walker.end();
  });
});
