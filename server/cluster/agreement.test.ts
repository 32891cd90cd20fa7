import { describe, expect, it } from 'vitest';
import { agreementOf, disagreements, type SharedSettings } from './agreement.ts';

const settings: SharedSettings = { root: { user: 'admin', password: 'first password' }, region: 'eu-west-1' };
const deployment = '6e9f3a1c-0f44-4b8b-9a53-0d6d0a6f1f10';
const published = (more: Partial<SharedSettings> = {}) => agreementOf({ ...settings, ...more }, deployment);

describe('two servers', () => {
  it('agree by equal settings', async () => {
    expect(disagreements(await published(), await published())).toEqual([]);
  });

  it.each([
    ['another user', { root: { user: 'root', password: 'first password' } }, ['SVC_ROOT_USER']],
    ['another password', { root: { user: 'admin', password: 'second password' } }, ['SVC_ROOT_PASSWORD']],
    ['another region', { region: 'us-east-1' }, ['SVC_REGION']],
  ])('disagree by %s', async (_name, other, expected) => {
    expect(disagreements(await published(), await published(other))).toEqual(expected);
  });

  it('agree while the root credentials are rotated from the one to the other, whichever joins', async () => {
    const rotated = await published({
      root: { user: 'root', password: 'second password' },
      formerRoot: settings.root,
    });
    expect([disagreements(rotated, await published()), disagreements(await published(), rotated)]).toEqual([[], []]);
  });

  it('agree where one is of a version that publishes nothing', async () => {
    expect([disagreements(await published(), undefined), disagreements(undefined, await published())]).toEqual([
      [],
      [],
    ]);
  });
});

describe('what a server publishes', () => {
  it('holds neither user nor password', async () => {
    expect(JSON.stringify(await published())).not.toMatch(/admin|first password/);
  });

  it('differs for the same password in another deployment, and for a user who is named like the password', async () => {
    const root = { user: 'same words', password: 'same words' };
    const [one, other] = [await published({ root }), await agreementOf({ ...settings, root }, 'other')];
    expect(one['SVC_ROOT_PASSWORD']).not.toEqual(other['SVC_ROOT_PASSWORD']);
    expect(one['SVC_ROOT_PASSWORD']).not.toEqual(one['SVC_ROOT_USER']);
  });
});
