import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { encryptPayload } from '../../protocol/admin/admin-payload.ts';
import { knownActions } from '../../protocol/policy/known-names.ts';
import { adminTest } from '../support/admin/admin.ts';

// The guide names each right that leads to more rights: each right of the API is tried alone, by a caller who wants an administrator's.

type AdminTest = Awaited<ReturnType<typeof adminTest>>;

const guide = readFileSync(new URL('../../docs/guides/identities.md', import.meta.url), 'utf8');
const [, section = ''] = guide.split('Each of these rights leads to every right but root');
const [table = ''] = section.split('\n\n`admin:ConfigUpdate`');
const named = [...table.matchAll(/^\|(.*?)\|/gm)].flatMap(([, cell = '']) =>
  [...cell.matchAll(/`(admin:\w+)`/g)].map(([, action = '']) => action),
);

const secretKey = 'known-to-the-caller';
const allows = (...actions: string[]) =>
  JSON.stringify({
    Version: '2012-10-17',
    Statement: actions.map((Action) => ({
      Effect: 'Allow',
      Action,
      ...(Action.startsWith('s3:') && { Resource: '*' }),
    })),
  });

/** Mallory has the policy `own` alone. The others administer all. */
async function newStage(): Promise<AdminTest> {
  const test = await adminTest();
  const { identities } = test;
  for (const accessKey of ['mallory', 'boss']) {
    await identities.putUser({ accessKey, secretKey: `${accessKey}-password` });
  }
  await identities.putPolicy('own', allows('admin:ServerInfo'));
  await identities.attach({ kind: 'user', name: 'mallory' }, ['own']);
  await identities.attach({ kind: 'user', name: 'boss' }, ['consoleAdmin']);
  await identities.addMembers('bosses', ['boss']);
  await identities.addMembers('asleep', ['mallory']);
  await identities.setGroupStatus('asleep', 'disabled');
  for (const name of ['bosses', 'asleep']) await identities.attach({ kind: 'group', name }, ['consoleAdmin']);
  const subject = { kind: 'user', name: 'boss' } as const;
  await identities.createServiceAccount({ subject, accessKey: 'robot', secretKey: 'robot-password' });
  await identities.createServiceAccount({
    subject: { kind: 'user', name: 'mallory' },
    accessKey: 'mine',
    secretKey: 'mine-password',
  });
  return test;
}

/** Encrypted once: the key of each encryption takes its time. */
const sealed = (value: object) => encryptPayload('mallory-password', Buffer.from(JSON.stringify(value)));
const [user, attachment, accessKey, update] = await Promise.all([
  sealed({ secretKey, status: 'enabled' }),
  sealed({ policies: ['consoleAdmin'], user: 'mallory' }),
  sealed({ targetUser: 'boss', accessKey: 'made', secretKey }),
  sealed({ newSecretKey: secretKey }),
]);

/** The calls that could give more, as far as one call can. */
const attempts: readonly ((test: AdminTest) => Promise<{ readonly status: number }>)[] = [
  ({ call }) => call('mallory', 'PUT', 'add-user?accessKey=boss', { plain: user }),
  ({ call }) => call('mallory', 'PUT', 'add-canned-policy?name=own', { plain: allows('admin:*', 's3:*') }),
  ({ call }) => call('mallory', 'POST', 'idp/builtin/policy/attach', { plain: attachment }),
  ({ call }) =>
    call('mallory', 'PUT', 'set-user-or-group-policy?policyName=consoleAdmin&userOrGroup=mallory&isGroup=false'),
  ({ call }) =>
    call('mallory', 'PUT', 'update-group-members', {
      plain: JSON.stringify({ group: 'bosses', members: ['mallory'], isRemove: false }),
    }),
  ({ call }) => call('mallory', 'PUT', 'set-group-status?group=asleep&status=enabled'),
  ({ call }) => call('mallory', 'PUT', 'add-service-account', { plain: accessKey }),
  ({ call }) => call('mallory', 'POST', 'update-service-account?accessKey=robot', { plain: update }),
];

const knownTo = ['mallory', 'mine'];

/** Reports whether the caller has an access key whose secret it knows, and which may do what only administrators may. */
async function hasGained({ access }: AdminTest, action: string): Promise<boolean> {
  for (const accessKey of ['mallory', 'mine', 'boss', 'made', 'robot']) {
    const found = await access.credentials(accessKey);
    if (found === undefined || !(knownTo.includes(accessKey) || found.secretKey === secretKey)) continue;
    for (const wanted of ['admin:ServerTrace', 'admin:DeleteUser', 's3:GetObject'].filter((each) => each !== action)) {
      const asked = { principal: found.principal, action: wanted, resource: 'a/b', context: {} };
      if ((await access.authorize(asked)).kind === 'allow') return true;
    }
  }
  return false;
}

it('names each right of the admin API that leads to more rights', async () => {
  const leading: string[] = [];
  let test = await newStage();
  for (const action of knownActions.filter((name) => name.startsWith('admin:'))) {
    await test.identities.putPolicy('own', allows(action));
    expect([action, await hasGained(test, action)]).toEqual([action, false]);
    for (const attempt of attempts) await attempt(test);
    if (!(await hasGained(test, action))) continue;
    leading.push(action);
    test = await newStage();
  }
  expect(leading.toSorted()).toEqual(named.toSorted());
}, 120_000);
