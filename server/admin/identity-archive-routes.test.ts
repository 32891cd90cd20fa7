import { beforeEach, describe, expect, it } from 'vitest';
import { federated } from '../identities/testing.ts';
import { readZip } from './zip/read-zip.ts';
import { writeZip } from './zip/write-zip.ts';
import { archiveLimits } from './identity-archive.ts';
import { adminTest } from './testing.ts';

type Test = Awaited<ReturnType<typeof adminTest>>;
let test: Test;
const reading = {
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::b/*'] }],
};
const claim = { kind: 'claim', provider: 'K8S', claim: 'sub', value: 'system:*' } as const;
const eve = federated({ parent: 'parent-of-eve', targets: [claim], claims: { sub: 's' } });

beforeEach(async () => {
  test = await adminTest();
  const { identities } = test;
  await identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
  await identities.putUser({ accessKey: 'bob', secretKey: 'bob-password', status: 'disabled' });
  await identities.addMembers('staff', ['ann', 'bob']);
  await identities.setGroupStatus('staff', 'disabled');
  await identities.putPolicy('p', JSON.stringify(reading));
  await identities.attach({ kind: 'user', name: 'ann' }, ['p', 'readonly']);
  await identities.attach({ kind: 'group', name: 'staff' }, ['p']);
  await identities.attach({ kind: 'ldap-user', name: 'uid=x,dc=y' }, ['p']);
  await identities.attach({ kind: 'ldap-group', name: 'cn=g,dc=y' }, ['readonly']);
  await identities.attach(claim, ['p']);
  const secretKey = 'robot-password';
  const policy = JSON.stringify(reading);
  const expiration = new Date('2030-01-01T00:00:00Z');
  await identities.createServiceAccount({
    subject: { kind: 'user', name: 'ann' },
    accessKey: 'robot',
    secretKey,
    policy,
    name: 'n',
    expiration,
  });
  await identities.createServiceAccount({ subject: eve, accessKey: 'ofeve', secretKey });
  await identities.createServiceAccount({ subject: { kind: 'root' }, accessKey: 'ofroot', secretKey });
});

async function exported({ call }: Test): Promise<{ archive: Buffer; files: Record<string, unknown> }> {
  const { status, bytes } = await call('root', 'GET', 'export-iam');
  expect(status).toBe(200);
  const entries = readZip(bytes, archiveLimits);
  const files = entries.map(({ name, content }) => [name, JSON.parse(content.toString())] as const);
  return { archive: bytes, files: Object.fromEntries(files) };
}

const zipOf = (files: Record<string, unknown>) =>
  writeZip(
    Object.entries(files).map(([name, value]) => ({
      name: `iam-assets/${name}.json`,
      content: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
    })),
    new Date(),
  );
const importing = ({ call }: Test, plain: Buffer, by = 'root') => call(by, 'PUT', 'import-iam-v2', { plain });

describe('an archive', () => {
  it('has the files of MinIO', async () => {
    const { files } = await exported(test);
    expect(files).toMatchObject({
      'iam-assets/policies.json': { p: reading, readwrite: { Version: '2012-10-17' } },
      'iam-assets/users.json': {
        ann: { secretKey: 'ann-password', status: 'enabled' },
        bob: { secretKey: 'bob-password', status: 'disabled' },
      },
      'iam-assets/groups.json': { staff: { version: 1, status: 'disabled', members: ['ann', 'bob'] } },
      'iam-assets/svcaccts.json': {
        robot: {
          parent: 'ann',
          secretKey: 'robot-password',
          sessionPolicy: reading,
          status: 'on',
          name: 'n',
          expiration: '2030-01-01T00:00:00Z',
          claims: { accessKey: 'robot', parent: 'ann', 'sa-policy': 'embedded-policy' },
        },
        ofeve: { parent: 'parent-of-eve', sessionPolicy: null, claims: { sub: 's' } },
        ofroot: { parent: 'root', expiration: '1970-01-01T00:00:00Z' },
      },
      'iam-assets/user_mappings.json': { ann: { version: 0, policy: 'p,readonly' } },
      'iam-assets/group_mappings.json': { staff: { policy: 'p' }, 'cn=g,dc=y': { policy: 'readonly' } },
      'iam-assets/stsuser_mappings.json': { 'uid=x,dc=y': { policy: 'p' } },
    });
  });

  it('makes another server the same, and may be imported again', async () => {
    const { archive, files } = await exported(test);
    const other = await adminTest();
    for (let time = 0; time < 2; time += 1) {
      const { status, value } = await importing(other, archive);
      expect(status).toBe(200);
      expect(value).toMatchObject({ skipped: {}, failed: {}, reasons: [] });
    }
    expect((await exported(other)).files).toEqual(files);
    expect(await other.identities.serviceAccount('ofeve')).toMatchObject({ subject: eve });
    expect((await other.identities.policy('readwrite'))?.stored).toBeUndefined();
  });

  it('of a MinIO is told entry by entry', async () => {
    const other = await adminTest();
    const { value } = await importing(
      other,
      zipOf({
        policies: { p: reading, broken: { Statement: 1 } },
        users: { ann: { secretKey: 'ann-password', status: 'enabled' }, bob: { secretKey: 'x' } },
        groups: { staff: { version: 1, status: 'enabled', members: ['ann'] }, lost: { members: ['nobody'] } },
        svcaccts: { robot: { parent: 'nobody', accessKey: 'robot', secretKey: 'robot-password', sessionPolicy: null } },
        user_mappings: { ann: { version: 0, policy: 'p' } },
        group_mappings: { staff: { version: 0, policy: 'nix' } },
      }),
    );
    expect(value).toMatchObject({
      added: { policies: ['p'], users: ['ann'], groups: ['staff'], userPolicies: [{ ann: ['p'] }] },
      skipped: { groups: ['lost'], serviceAccounts: ['robot'], groupPolicies: [{ staff: ['nix'] }] },
      failed: { policies: [{ name: 'broken' }], users: [{ name: 'bob', reason: expect.any(String) as string }] },
    });
  });

  it('of a MinIO brings people of a directory, under names in one spelling', async () => {
    const other = await adminTest();
    const parent = 'UID=Eve, DC=example';
    const { value } = await importing(
      other,
      zipOf({
        svcaccts: {
          ofeve: { parent, secretKey: 'eves-secret', groups: ['CN=Staff,DC=example'], claims: { ldapUsername: 'eve' } },
        },
        stsuser_mappings: { [parent]: { version: 0, policy: 'readonly' } },
        group_mappings: { 'CN=Staff,DC=example': { version: 0, policy: 'diagnostics' } },
      }),
    );
    expect(value).toMatchObject({ added: { serviceAccounts: ['ofeve'] }, skipped: {}, failed: {} });
    const { subject } = (await other.identities.serviceAccount('ofeve')) ?? {};
    expect(subject).toMatchObject({
      kind: 'federated',
      source: 'ldap',
      parent: 'uid=eve,dc=example',
      displayName: 'eve',
    });
    if (subject === undefined) return;
    expect(await other.identities.policiesOf(subject)).toEqual(['readonly', 'diagnostics']);
  });

  it('is refused by older clients where something could not be taken', async () => {
    const plain = zipOf({ users: { bob: { secretKey: 'x' }, ann: { secretKey: 'ann-password' } } });
    expect(await test.call('root', 'PUT', 'import-iam', { plain })).toMatchObject({
      status: 400,
      value: { Message: 'Some could not be imported. bob: A secret key has 8 to 128 printable ASCII characters.' },
    });
    const { archive } = await exported(test);
    expect((await test.call('root', 'PUT', 'import-iam', { plain: archive })).status).toBe(200);
  });

  it('brings nobody but root keys of root', async () => {
    await test.identities.putUser({ accessKey: 'admin', secretKey: 'admin-password' });
    await test.identities.attach({ kind: 'user', name: 'admin' }, ['consoleAdmin']);
    const plain = zipOf({ svcaccts: { back: { parent: 'root', secretKey: 'back-password' } } });
    expect((await importing(test, plain, 'admin')).value).toMatchObject({
      failed: { serviceAccounts: [{ name: 'back', reason: expect.stringContaining('root') as string }] },
    });
    expect(await test.identities.serviceAccount('back')).toBeUndefined();
  });

  it('does not take the access key of somebody else', async () => {
    const plain = zipOf({ svcaccts: { robot: { parent: 'bob', secretKey: 'bobs-robot-now' } } });
    expect((await importing(test, plain)).value).toMatchObject({ failed: { serviceAccounts: [{ name: 'robot' }] } });
    expect(await test.identities.serviceAccount('robot')).toMatchObject({ secretKey: 'robot-password' });
  });

  it.each([
    ['no zip file', Buffer.from('rubbish'), /no zip file/],
    ['nothing of identities', writeZip([{ name: 'a', content: Buffer.from('{}') }], new Date()), /none of the files/],
    ['a file that is no JSON', zipOf({ users: '{"ann": {"secretKey": "in-the-open' }), /users.json is no JSON/],
    ['a file of another shape', zipOf({ users: [] }), /users.json is not as expected/],
    ['a name that leads out', writeZip([{ name: '../x', content: Buffer.from('{}') }], new Date()), /leads out/],
  ])('is refused with %s, before anything is changed', async (_, plain, message) => {
    const refused = await importing(test, plain);
    expect(refused).toMatchObject({ status: 400, value: { Code: 'XCofferInvalidRequest' } });
    expect((refused.value as { Message: string }).Message).toMatch(message);
    expect(JSON.stringify(refused.value)).not.toContain('in-the-open');
  });

  it('is for those alone who have the right', async () => {
    expect((await test.call('ann', 'GET', 'export-iam')).status).toBe(403);
    expect((await importing(test, zipOf({ users: {} }), 'ann')).status).toBe(403);
  });
});
