import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestBrowser, TestConsole } from '../../../../test/support/console/test-console.ts';
import { put } from '../../../../test/support/objects/test-layer.ts';
import { sealedRecords } from '../../../encryption/sealed-records.ts';
import { StoredTransfers } from '../../transfers/stored-transfers.ts';
import type { TransferList, TransferRow } from '../../../../protocol/console/transfer-answers.ts';

let console: TestConsole;
let root: TestBrowser;

beforeEach(async () => {
  console = await TestConsole.start();
  root = new TestBrowser(console.url);
  await root.signIn();
  await console.stores.layer.createBucket('docs', { location: '' });
});
afterEach(() => console.close());

const store = (key: string, bucket = 'docs') => console.stores.layer.putObject(put(bucket, key, key));
const keys = async (bucket = 'docs') => {
  const listing = { bucket, prefix: '', delimiter: '', after: '', limit: 1_000 };
  return (await console.stores.layer.listObjects(listing)).objects.map(({ key }) => key);
};
const form = (more: object) => ({
  kind: 'move',
  bucket: 'docs',
  objects: [],
  folders: [],
  target: { bucket: 'docs', prefix: '' },
  replace: false,
  ...more,
});
const start = (more: object, browser = root) => browser.send('POST', '/api/transfers', { json: form(more) });
const list = async (browser = root) =>
  ((await (await browser.send('GET', '/api/transfers')).json()) as TransferList).transfers;

async function ended(browser = root): Promise<TransferRow> {
  return expect
    .poll(async () => (await list(browser))[0], { timeout: 180_000 })
    .not.toMatchObject({ state: 'running' })
    .then(async () => (await list(browser))[0] as TransferRow);
}

async function user(name: string, ...statements: readonly object[]): Promise<TestBrowser> {
  const document = JSON.stringify({
    Version: '2012-10-17',
    Statement: statements.map((one) => ({ Effect: 'Allow', ...one })),
  });
  await console.identities.putPolicy(`${name}-policy`, document);
  await console.identities.putUser({ accessKey: name, secretKey: `${name}-secret` });
  await console.identities.setAttached({ kind: 'user', name }, [`${name}-policy`]);
  const browser = new TestBrowser(console.url);
  await browser.signIn({ accessKey: name, secretKey: `${name}-secret` });
  return browser;
}

describe('a transfer', () => {
  it('renames a folder with all that is in it', async () => {
    for (let index = 0; index < 120; index += 1) await store(`old/${String(index).padStart(3, '0')}`);
    await store('older');
    const started = await start({ kind: 'rename', folders: ['old/'], rename: 'new' });
    expect(started.status).toBe(201);
    expect(await started.json()).toMatchObject({ title: 'Rename old', state: 'running' });
    expect(await ended()).toMatchObject({ state: 'done', done: 120, total: 120, failures: 0 });
    const left = await keys();
    expect(left).toHaveLength(121);
    expect(left.filter((key) => key.startsWith('new/'))).toHaveLength(120);
  });

  it('copies objects and folders into another bucket, and keeps what is there', async () => {
    await console.stores.layer.createBucket('copies', { location: '' });
    for (const key of ['a.txt', 'f/1', 'f/2']) await store(key);
    await store('in/f/2', 'copies');
    await start({ kind: 'copy', objects: ['a.txt'], folders: ['f/'], target: { bucket: 'copies', prefix: 'in/' } });
    const done = await ended();
    expect(done).toMatchObject({ state: 'done', done: 2, failures: 1, failed: [{ key: 'f/2' }] });
    expect(await keys('copies')).toEqual(['in/a.txt', 'in/f/1', 'in/f/2']);
    expect(await keys()).toEqual(['a.txt', 'f/1', 'f/2']);
  });

  it('moves versions by copies: the older ones stay', async () => {
    await console.stores.layer.putBucketVersioning('docs', { status: 'Enabled' });
    await store('a/x');
    await start({ folders: ['a/'], rename: 'b' });
    expect(await ended()).toMatchObject({ state: 'done', done: 1, failures: 0 });
    expect(await keys()).toEqual(['b/x']);
  });

  it('has the rights of its user for each object', async () => {
    for (const key of ['a/mine', 'a/other']) await store(key);
    const ann = await user(
      'ann',
      { Action: ['s3:ListBucket'], Resource: 'arn:aws:s3:::docs' },
      { Action: ['s3:GetObject', 's3:DeleteObject'], Resource: 'arn:aws:s3:::docs/a/mine' },
      { Action: ['s3:PutObject'], Resource: 'arn:aws:s3:::docs/b/*' },
    );
    expect((await start({ folders: ['a/'], rename: 'b' }, ann)).status).toBe(201);
    expect(await ended(ann)).toMatchObject({
      state: 'done',
      done: 1,
      failures: 1,
      failed: [{ key: 'a/other', message: 'Your policies do not allow s3:GetObject on docs/a/other.' }],
    });
    expect(await keys()).toEqual(['a/other', 'b/mine']);
    expect((await start({ folders: ['b/'], rename: 'c' }, ann)).status).toBe(403);
    expect(await list()).toEqual([]);
  });

  it.each([
    ['was disabled', 'stopped', () => console.identities.putUser({ accessKey: 'ann', status: 'disabled' })],
    ['lost the rights', 'done', () => console.identities.setAttached({ kind: 'user', name: 'ann' }, [])],
  ] as const)('has no rights of a user who %s meanwhile', async (_, state, end) => {
    await console.stores.layer.createBucket('copies', { location: '' });
    for (let index = 0; index < 40; index += 1) await store(`a/${String(index).padStart(2, '0')}`);
    const ann = await user('ann', { Action: 's3:*', Resource: ['arn:aws:s3:::*'] });
    const { layer } = console.stores;
    const copy = layer.copyObject.bind(layer);
    let ended = false;
    Object.assign(layer, {
      async copyObject(...request: Parameters<typeof copy>) {
        if (!ended) await end();
        ended = true;
        return copy(...request);
      },
    });
    await start({ kind: 'copy', folders: ['a/'], target: { bucket: 'copies', prefix: '' } }, ann);
    await expect.poll(() => ended).toBe(true);
    const { records: plain, keys: ofStore } = console.stores;
    const records = sealedRecords({ records: plain, keys: ofStore });
    await records.start();
    const stored = new StoredTransfers(records);
    const states = async () => (await stored.ofOwner('user:ann')).map(({ value }) => value.state);
    await expect.poll(states, { timeout: 60_000 }).toEqual([state]);
    // The copies that were under way at the same time may have been authorized before.
    expect((await keys('copies')).length).toBeLessThanOrEqual(5);
  });

  it('needs the right to list the folder', async () => {
    await store('a/x');
    const ann = await user('ann', { Action: ['s3:*Object'], Resource: 'arn:aws:s3:::docs/*' });
    await start({ folders: ['a/'], rename: 'b' }, ann);
    expect(await ended(ann)).toMatchObject({ state: 'done', done: 0, failed: [{ key: 'a/' }] });
    expect(await keys()).toEqual(['a/x']);
  });

  it('goes on in another process where its own is gone', async () => {
    for (const key of ['a/1', 'a/2', 'a/3']) await store(key);
    const { layer } = console.stores;
    const rename = layer.renameObject.bind(layer);
    let isFirst = true;
    // The first process hangs with its first object.
    Object.assign(layer, {
      renameObject(...request: Parameters<typeof rename>) {
        if (!isFirst) return rename(...request);
        isFirst = false;
        return new Promise(() => undefined);
      },
    });
    await start({ folders: ['a/'], rename: 'b' });
    await expect.poll(() => keys(), { timeout: 180_000 }).toEqual(['a/1', 'b/2', 'b/3']);
    const second = await TestConsole.start({ stores: console.stores });
    const browser = new TestBrowser(second.url);
    await browser.signIn();
    expect(await list(browser)).toMatchObject([{ state: 'running' }]);
    expect(await keys()).toEqual(['a/1', 'b/2', 'b/3']);
    second.advance(61_000);
    expect(await ended(browser)).toMatchObject({ state: 'done', failures: 0 });
    expect(await keys()).toEqual(['b/1', 'b/2', 'b/3']);
    await second.close();
  });

  it('does not delete an object that replaced the copied one meanwhile', async () => {
    await console.stores.layer.createBucket('archive', { location: '' });
    await store('a.txt');
    const { layer } = console.stores;
    const remove = layer.deleteObject.bind(layer);
    Object.assign(layer, {
      async deleteObject(...request: Parameters<typeof remove>) {
        await layer.putObject(put('docs', 'a.txt', 'newer'));
        return remove(...request);
      },
    });
    await start({ objects: ['a.txt'], target: { bucket: 'archive', prefix: '' } });
    expect(await ended()).toMatchObject({ state: 'done', done: 0, failures: 1, failed: [{ key: 'a.txt' }] });
    expect(await keys()).toEqual(['a.txt']);
    expect(await keys('archive')).toEqual(['a.txt']);
  });

  it('finishes a move whose process ended between the copy and the deletion', async () => {
    await console.stores.layer.createBucket('archive', { location: '' });
    await store('a.txt');
    const { layer } = console.stores;
    const remove = layer.deleteObject.bind(layer);
    Object.assign(layer, { deleteObject: () => new Promise(() => undefined) });
    await start({ objects: ['a.txt'], target: { bucket: 'archive', prefix: '' } });
    await expect.poll(() => keys('archive')).toEqual(['a.txt']);
    Object.assign(layer, { deleteObject: remove });
    const second = await TestConsole.start({ stores: console.stores });
    second.advance(61_000);
    const browser = new TestBrowser(second.url);
    await browser.signIn();
    expect(await ended(browser)).toMatchObject({ state: 'done', done: 1, failures: 0 });
    expect(await keys()).toEqual([]);
    await second.close();
  });

  it('stops where its session has ended', async () => {
    await store('a/x');
    const ann = await user('ann', { Action: ['s3:*'], Resource: ['arn:aws:s3:::*'] });
    const { layer } = console.stores;
    const rename = layer.renameObject.bind(layer);
    const gate = Promise.withResolvers<void>();
    Object.assign(layer, {
      async renameObject(...request: Parameters<typeof rename>) {
        await gate.promise;
        return rename(...request);
      },
    });
    await store('b/y');
    await start({ folders: ['a/', 'b/'], target: { bucket: 'docs', prefix: 'x/' } }, ann);
    const other = new TestBrowser(console.url);
    await other.signIn({ accessKey: 'ann', secretKey: 'ann-secret' });
    await expect.poll(async () => (await list(other))[0]?.total).toBe(2);
    await ann.send('POST', '/api/sign-out');
    gate.resolve();
    expect(await ended(other)).toMatchObject({
      state: 'stopped',
      done: 1,
      reason: 'The session that began it has ended.',
    });
    expect(await keys()).toEqual(['b/y', 'x/a/x']);
  });

  it('is stopped, and then removed, by its user alone', async () => {
    await store('a/x');
    await start({ folders: ['a/'], rename: 'b' });
    const { id } = await ended();
    const ann = await user('ann', { Action: ['s3:*'], Resource: ['arn:aws:s3:::*'] });
    const remove = (browser: TestBrowser) => browser.send('DELETE', `/api/transfers?id=${id}`);
    expect((await remove(ann)).status).toBe(404);
    expect((await remove(root)).status).toBe(204);
    expect(await list()).toEqual([]);
  });

  it.each([
    [{}, 400],
    [{ folders: ['a'] }, 400],
    [{ folders: ['a/'], target: { bucket: 'docs', prefix: 'a/' } }, 400],
  ])('of %j is refused with %d', async (more, status) => {
    expect((await start(more)).status).toBe(status);
  });
});
