import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OpenIdProviderDouble } from '../../../../test/support/openid/openid-provider.ts';
import { TestBrowser, TestConsole } from '../../../../test/support/console/test-console.ts';
import { put } from '../../../../test/support/objects/test-layer.ts';
import type { LifecyclePreview, ReachedBuckets, ReachList } from '../../../../protocol/console/reach-answers.ts';

let provider: OpenIdProviderDouble;
let console: TestConsole;
let root: TestBrowser;

beforeEach(async () => {
  provider = await OpenIdProviderDouble.start();
  console = await TestConsole.start({ openid: [{ id: 'DEMO', configUrl: provider.configUrl }] });
  root = new TestBrowser(console.url);
  await root.signIn();
  for (const name of ['docs', 'other']) await console.stores.layer.createBucket(name, { location: '' });
});
afterEach(async () => {
  await console.close();
  await provider.close();
});

const policy = (name: string, statement: object) => {
  const document = JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', ...statement }] });
  return root.send('PUT', `/api/policy?name=${name}`, { json: { document } });
};
const user = (name: string, policies: readonly string[]) =>
  root.send('POST', '/api/users', { json: { name, secretKey: `${name}-secret`, policies } });
const read = async <Answer>(path: string) => (await (await root.send('GET', path)).json()) as Answer;
const reach = (bucket: string, after = '') => read<ReachList>(`/api/buckets/${bucket}/reach?after=${after}`);
const status = async (browser: TestBrowser, path: string) => (await browser.send('GET', path)).status;

const preview = (browser: TestBrowser, document: string) =>
  browser.send('POST', '/api/buckets/docs/lifecycle-preview', { json: { document } });

describe('who can reach a bucket', () => {
  it('names users with what they may do, everyone, and those that claims let in', async () => {
    await policy('docs-some', { Action: 's3:GetObject', Resource: 'arn:aws:s3:::docs/ann/*' });
    await policy('other-only', { Action: 's3:*', Resource: ['arn:aws:s3:::other', 'arn:aws:s3:::other/*'] });
    await user('ann', ['docs-some']);
    await user('bea', ['other-only']);
    await user('cem', ['readwrite']);
    const claim = { kind: 'claim', provider: 'DEMO', claim: 'groups', value: 'lab-*' };
    await root.send('POST', '/api/policy/attach?name=docs-some', { json: claim });
    const everyone = {
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::docs/*' }],
    };
    await console.stores.layer.putBucketPolicy('docs', JSON.stringify(everyone));
    const { rows, next } = await reach('docs');
    expect(next).toBeUndefined();
    const of = (kind: string, name?: string) =>
      rows.find(({ who }) => who.kind === kind && (name === undefined || ('name' in who && who.name === name)))?.rights;
    expect(of('anonymous')).toEqual({ read: 'all' });
    // Ann may read what everyone may read.
    expect(of('user', 'ann')).toEqual({ read: 'all' });
    expect(of('user', 'cem')).toEqual({
      list: 'all',
      read: 'all',
      write: 'all',
      delete: 'all',
      administer: 'all',
    });
    expect(of('claim')).toEqual({ read: 'all' });
    expect(of('policy', 'writeonly')).toMatchObject({ write: 'all' });
    expect((await reach('other')).rows.map(({ who }) => ('name' in who ? who.name : who.kind))).not.toContain('ann');
  });

  it('says some for a part of the keys, and for conditions', async () => {
    await policy('part', { Action: 's3:PutObject', Resource: 'arn:aws:s3:::docs/in/*' });
    await policy('inside', {
      Action: ['s3:GetObject', 's3:ListBucket'],
      Resource: ['arn:aws:s3:::docs', 'arn:aws:s3:::docs/*'],
      Condition: { IpAddress: { 'aws:SourceIp': '10.0.0.0/8' } },
    });
    await user('ann', ['part', 'inside']);
    const { rows } = await reach('docs');
    expect(rows.find(({ who }) => who.kind === 'user')?.rights).toEqual({ list: 'some', read: 'some', write: 'some' });
  });

  it('leaves out disabled users, and comes in pages', async () => {
    for (let index = 0; index < 103; index += 1) {
      await console.identities.putUser({
        accessKey: `user-${String(index).padStart(3, '0')}`,
        secretKey: 'secret-key',
      });
      await console.identities.setAttached({ kind: 'user', name: `user-${String(index).padStart(3, '0')}` }, [
        'readonly',
      ]);
    }
    await root.send('PUT', '/api/user/status?name=user-101', { json: { status: 'disabled' } });
    const first = await reach('docs');
    expect(first.rows.filter(({ who }) => who.kind === 'user')).toHaveLength(100);
    const second = await reach('docs', first.next);
    expect(second.rows.map(({ who }) => 'name' in who && who.name)).toEqual(['user-100', 'user-102']);
  });

  it('is told to those alone who may explain decisions, and for buckets that exist', async () => {
    await user('ann', ['readwrite']);
    const ann = new TestBrowser(console.url);
    await ann.signIn({ accessKey: 'ann', secretKey: 'ann-secret' });
    expect(await status(ann, '/api/buckets/docs/reach')).toBe(403);
    expect(await status(ann, '/api/reached-buckets?name=ann')).toBe(403);
    expect(await status(root, '/api/buckets/absent-bucket/reach')).toBe(404);
  });
});

describe('the buckets that a user reaches', () => {
  it('are those with some right', async () => {
    await policy('docs-only', { Action: 's3:ListBucket', Resource: 'arn:aws:s3:::docs' });
    await user('ann', ['docs-only']);
    expect(await read<ReachedBuckets>('/api/reached-buckets?name=ann')).toEqual({
      buckets: [{ bucket: 'docs', rights: { list: 'all' } }],
    });
    expect(await status(root, '/api/reached-buckets?name=nobody')).toBe(404);
  });
});

describe('the preview of lifecycle rules', () => {
  const rules = `<LifecycleConfiguration><Rule><Status>Enabled</Status><Filter><Prefix>a</Prefix></Filter>
    <Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>`;

  it('tells what the rules of the form would remove, and changes nothing', async () => {
    await console.stores.layer.putObject(put('docs', 'a', 'body'));
    console.advance(3 * 86_400_000);
    await root.signIn();
    const answer = (await (await preview(root, rules)).json()) as LifecyclePreview;
    expect(answer).toMatchObject({ due: { objects: 1, bytes: 4 }, examples: [{ key: 'a', due: true }] });
    expect(await console.stores.layer.getBucketLifecycle('docs')).toBeUndefined();
  });

  it('refuses wrong rules and users who may not list versions', async () => {
    expect((await preview(root, '<x/>')).status).toBe(400);
    await user('ann', ['writeonly']);
    const ann = new TestBrowser(console.url);
    await ann.signIn({ accessKey: 'ann', secretKey: 'ann-secret' });
    expect((await preview(ann, rules)).status).toBe(403);
  });

  it('of rules that abort uploads needs the right to list uploads', async () => {
    const aborting = rules.replace(
      /<Expiration>.*<\/Expiration>/,
      '<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>',
    );
    const lists = ['s3:GetLifecycleConfiguration', 's3:ListBucketVersions'];
    await policy('lists', { Action: lists, Resource: 'arn:aws:s3:::docs' });
    await user('ann', ['lists']);
    const ann = new TestBrowser(console.url);
    await ann.signIn({ accessKey: 'ann', secretKey: 'ann-secret' });
    expect((await preview(ann, rules)).status).toBe(200);
    expect((await preview(ann, aborting)).status).toBe(403);
    expect((await preview(ann, aborting.replace('Enabled', 'Disabled'))).status).toBe(200);
    await policy('lists', { Action: [...lists, 's3:ListBucketMultipartUploads'], Resource: 'arn:aws:s3:::docs' });
    expect((await preview(ann, aborting)).status).toBe(200);
  });
});
