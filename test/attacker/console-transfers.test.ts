import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TransferList, TransferRow } from '../../protocol/console/transfer-answers.ts';
import { TestBrowser, TestConsole } from '../support/console/test-console.ts';
import { put } from '../support/objects/test-layer.ts';

let console: TestConsole;

beforeAll(async () => {
  console = await TestConsole.start();
  for (const bucket of ['docs', 'copies']) await console.stores.layer.createBucket(bucket, { location: '' });
});
afterAll(() => console.close());

async function keys(bucket: string): Promise<string[]> {
  const found: string[] = [];
  for (let after: string | undefined = ''; after !== undefined;) {
    const listing = { bucket, prefix: '', delimiter: '', after, limit: 1_000 };
    const page = await console.stores.layer.listObjects(listing);
    found.push(...page.objects.map(({ key }) => key));
    after = page.next;
  }
  return found;
}

const resources = (bucket: string, folder: string, names: readonly string[]) =>
  names.length === 0 ? ['arn:aws:s3:::none/none'] : names.map((name) => `arn:aws:s3:::${bucket}/${folder}${name}`);

const namesIn = async (bucket: string, folder: string) =>
  (await keys(bucket)).filter((key) => key.startsWith(folder)).map((key) => key.split('/').at(-1));

/** Signs in as a new user with these statements. */
async function user(name: string, ...statements: readonly object[]): Promise<TestBrowser> {
  const Statement = statements.map((one) => ({ Effect: 'Allow', ...one }));
  await console.identities.putPolicy(`${name}-policy`, JSON.stringify({ Version: '2012-10-17', Statement }));
  await console.identities.putUser({ accessKey: name, secretKey: `${name}-secret` });
  await console.identities.setAttached({ kind: 'user', name }, [`${name}-policy`]);
  const browser = new TestBrowser(console.url);
  await browser.signIn({ accessKey: name, secretKey: `${name}-secret` });
  return browser;
}

async function ended(browser: TestBrowser): Promise<TransferRow | undefined> {
  const first = async () => ((await (await browser.send('GET', '/api/transfers')).json()) as TransferList).transfers[0];
  await expect.poll(first, { timeout: 180_000 }).not.toMatchObject({ state: 'running' });
  return first();
}

it('a transfer of the console reads, writes and removes no object that a single call could not, for random policies', async () => {
  const names = ['0', '1', '2', '3', '4', '5'];
  const some = fc.subarray(names);
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('copy', 'move', 'rename'),
      fc.record({ read: some, written: some, removed: some, denied: some, toOther: fc.boolean() }),
      async (kind, { read, written, removed, denied, toOther }) => {
        run += 1;
        const [from, to] = [`s${run}/`, `t${run}/`];
        const target = toOther && kind !== 'rename' ? 'copies' : 'docs';
        for (const name of names) await console.stores.layer.putObject(put('docs', `${from}${name}`, name));
        const browser = await user(
          `user${run}`,
          { Action: 's3:ListBucket', Resource: ['arn:aws:s3:::docs', 'arn:aws:s3:::copies'] },
          { Action: 's3:GetObject*', Resource: resources('docs', from, read) },
          { Action: 's3:PutObject*', Resource: resources(target, `${to}${kind === 'rename' ? '' : from}`, written) },
          { Action: 's3:DeleteObject*', Resource: resources('docs', from, removed) },
          { Effect: 'Deny', Action: 's3:*', Resource: resources('docs', from, denied) },
        );
        const form = { kind, bucket: 'docs', objects: [], folders: [from], replace: false };
        const place = kind === 'rename' ? { bucket: 'docs', prefix: '' } : { bucket: target, prefix: to };
        const renamed = kind === 'rename' ? { rename: to.slice(0, -1) } : {};
        const json = { ...form, target: place, ...renamed };
        const { status } = await browser.send('POST', '/api/transfers', { json });
        // A user who may write no name of the target is refused at once.
        expect(status).toBe(written.length === 0 ? 403 : 201);
        if (status === 403) return;
        const row = await ended(browser);
        const may = names.filter((name) => read.includes(name) && written.includes(name) && !denied.includes(name));
        const done = kind === 'copy' ? may : may.filter((name) => removed.includes(name));
        const arrived = await namesIn(target, to);
        expect(may).toEqual(expect.arrayContaining(arrived));
        expect(await namesIn('docs', from)).toEqual(
          kind === 'copy' ? names : names.filter((name) => !done.includes(name)),
        );
        expect(row).toMatchObject({ state: 'done', done: done.length, failures: names.length - done.length });
      },
    ),
    { numRuns: 200 },
  );
}, 600_000);
