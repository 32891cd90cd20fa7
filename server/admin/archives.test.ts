import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { federated } from '../../test/support/auth/identities.ts';
import { readZip, writeZip } from '../administration/zip.ts';
import { archiveLimits } from '../administration/identity-archive.ts';
import type { FederatedSubject } from '../auth/identities/subject.ts';
import type { ArchivedUsers } from '../federation/archived-users.ts';
import type { OpenIdProvider } from '../federation/openid-provider.ts';
import { createArchivedUsers } from '../sts/archived-users.ts';
import { adminTest } from '../../test/support/admin/admin.ts';

type Test = Awaited<ReturnType<typeof adminTest>>;
let test: Test;
const reading = {
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::b/*'] }],
};
const claim = { kind: 'claim', provider: 'K8S', claim: 'sub', value: 'system:*' } as const;
const parentOfEve = createHash('sha256').update('eve').digest('base64url');
const eve = federated({ parent: parentOfEve, targets: [claim], claims: { sub: 's' } });

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
  const entries = await readZip(bytes, archiveLimits);
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
/** An archive with the name `../x`, which the writer refuses. */
async function leadingOut(): Promise<Buffer> {
  const archive = await writeZip([{ name: 'xx/x', content: Buffer.from('{}') }], new Date());
  return Buffer.from(archive.toString('latin1').replaceAll('xx/x', '../x'), 'latin1');
}
const importing = async ({ call }: Test, plain: Buffer | Promise<Buffer>, by = 'root') =>
  call(by, 'PUT', 'import-iam-v2', { plain: await plain });

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
        ofeve: { parent: parentOfEve, sessionPolicy: null, claims: { sub: 's' } },
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
        groups: { staff: { version: 1, status: 'enabled', members: ['ann', 'bob'] }, lost: { members: ['nobody'] } },
        svcaccts: {
          robot: { parent: 'nobody', accessKey: 'robot', secretKey: 'robot-password', sessionPolicy: null },
          open: { parent: 'ann', secretKey: 'open-password', sessionPolicy: { Version: '2012-10-17', Statement: [] } },
        },
        user_mappings: { ann: { version: 0, policy: 'p' } },
        group_mappings: { staff: { version: 0, policy: 'nix' } },
      }),
    );
    expect(value).toMatchObject({
      added: { policies: ['p'], users: ['ann'], groups: ['staff', 'lost'], userPolicies: [{ ann: ['p'] }] },
      skipped: { users: ['bob', 'nobody'], serviceAccounts: ['robot'], groupPolicies: [{ staff: ['nix'] }] },
      failed: {
        policies: [{ name: 'broken' }],
        users: [{ name: 'bob', reason: expect.any(String) as string }],
        serviceAccounts: [{ name: 'open' }],
      },
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

  describe('of a MinIO with users of an OpenID provider', () => {
    const issuer = 'https://idp.example/realms/demo';
    const hash = (sub: string) => createHash('sha256').update(`openid:${sub}:${issuer}`).digest('base64url');
    /** As MinIO writes it: the claims of the token, and its own. */
    const keyOf = (sub: string, claims: Record<string, unknown> = {}) => ({
      parent: hash(sub),
      secretKey: `secret-of-${sub}`,
      sessionPolicy: null,
      status: 'on',
      expiration: '1970-01-01T00:00:00Z',
      claims: {
        sub,
        iss: issuer,
        aud: 'coffer',
        accessKey: 'k',
        parent: hash(sub),
        'sa-policy': 'inherited-policy',
        ...claims,
      },
    });

    interface Provider {
      readonly id?: string;
      readonly settings?: Partial<OpenIdProvider['settings']>;
      readonly status?: object;
    }
    const providerOf = ({
      id = 'MAIN',
      settings = {},
      status = { kind: 'ready', metadata: { issuer } },
    }: Provider): OpenIdProvider =>
      ({
        id,
        settings: { id, clientId: 'coffer', claimName: 'policy', rolePolicy: [], ...settings },
        status,
        roleArn: settings.rolePolicy === undefined ? undefined : 'arn',
      }) as unknown as OpenIdProvider;

    function withProvider(rolePolicy?: readonly string[]) {
      return withProviders({ settings: rolePolicy === undefined ? {} : { rolePolicy } });
    }

    async function withProviders(...list: readonly Provider[]) {
      let test: Test | undefined;
      const archivedUsers: ArchivedUsers = {
        subjectOf(user) {
          if (test === undefined) throw new Error('not made yet');
          const providers = { list: list.map(providerOf), started: Promise.resolve() };
          return createArchivedUsers({ providers, identities: test.identities }).subjectOf(user);
        },
      };
      test = await adminTest({ services: { archivedUsers } });
      return test;
    }

    it('brings their keys with the policies of their claim, disabled ones and those with a policy of their own too', async () => {
      const other = await withProvider();
      const svcaccts = {
        first: keyOf('ann', { policy: 'readonly', preferred_username: 'ann' }),
        second: { ...keyOf('ann', { policy: 'readonly' }), status: 'off', sessionPolicy: reading },
      };
      const { value } = await importing(other, zipOf({ svcaccts }));
      expect(value).toMatchObject({ added: { serviceAccounts: ['first', 'second'] }, skipped: {}, failed: {} });
      const first = await other.identities.serviceAccount('first');
      expect(first?.subject).toMatchObject({
        kind: 'federated',
        source: 'openid',
        provider: 'MAIN',
        parent: hash('ann'),
        displayName: 'ann',
        subjectId: 'ann',
        policies: ['readonly'],
        claims: { sub: 'ann', iss: issuer },
      });
      expect((first?.subject as FederatedSubject | undefined)?.claims).not.toHaveProperty('accessKey');
      const second = await other.identities.serviceAccount('second');
      expect(second?.status).toBe('disabled');
      expect(JSON.parse(second?.policy ?? '')).toEqual(reading);
    });

    it('takes the policies of their last sign-in, which are no attachments', async () => {
      const other = await withProvider();
      const svcaccts = { first: keyOf('ann', { policy: 'readonly' }) };
      const stsuser_mappings = { [hash('ann')]: { policy: 'readwrite' }, [hash('bob')]: { policy: 'readonly' } };
      const { value } = await importing(other, zipOf({ svcaccts, stsuser_mappings }));
      expect((value as { added: object }).added).toEqual({ serviceAccounts: ['first'] });
      expect((await other.identities.serviceAccount('first'))?.subject).toMatchObject({ policies: ['readwrite'] });
    });

    it('gives those of a role its policies of today', async () => {
      const other = await withProvider(['diagnostics']);
      const roleArn = `arn:minio:iam:::role/${createHash('sha1').update('coffer').digest('base64url')}`;
      await importing(other, zipOf({ svcaccts: { first: keyOf('ann', { roleArn, policy: ['readwrite'] }) } }));
      expect((await other.identities.serviceAccount('first'))?.subject).toMatchObject({ policies: ['diagnostics'] });
    });

    it.each([
      ['another issuer', keyOf('ann', { iss: 'https://other' }), 'the archive does not say which'],
      [
        'an issuer that no provider has',
        {
          ...keyOf('ann', { iss: 'https://other' }),
          parent: createHash('sha256').update('openid:ann:https://other').digest('base64url'),
        },
        'ready: MAIN (https://idp.example/realms/demo)',
      ],
      ['a client that no provider has', keyOf('ann', { policy: 'readonly', aud: 'other' }), 'ready: MAIN'],
      ['no client', keyOf('ann', { policy: 'readonly', aud: undefined }), 'ready: MAIN'],
      [
        'a policy that does not exist',
        keyOf('ann', { policy: 'lost' }),
        'None of the given policies (`lost`) are defined',
      ],
    ])('names a key with %s', async (_, entry, reason) => {
      const { value } = await importing(await withProvider(), zipOf({ svcaccts: { first: entry } }));
      expect(value).toMatchObject({
        added: {},
        skipped: { serviceAccounts: ['first'] },
        reasons: [expect.stringContaining(reason) as string],
      });
    });

    it.each([
      ['the client of the token', { aud: 'second' }, 'SECOND'],
      ['the public client of the token', { aud: ['other', 'cli'] }, 'SECOND'],
      ['the authorized party', { azp: 'second', aud: 'other' }, 'SECOND'],
      ['claims before roles', { aud: 'both' }, 'CLAIMS'],
    ])('takes the provider of %s', async (_, claims, expected) => {
      const other = await withProviders(
        {},
        { id: 'SECOND', settings: { clientId: 'second', cliClientId: 'cli' } },
        { id: 'ROLE', settings: { clientId: 'both', rolePolicy: ['diagnostics'] } },
        { id: 'CLAIMS', settings: { clientId: 'both' } },
      );
      await importing(other, zipOf({ svcaccts: { first: keyOf('ann', { policy: 'readonly', ...claims }) } }));
      expect((await other.identities.serviceAccount('first'))?.subject).toMatchObject({ provider: expected });
    });

    it('fails for a key whose provider is not reachable yet, and does not say that there is none', async () => {
      const other = await withProviders(
        { settings: { clientId: 'second' } },
        { id: 'AWAY', status: { kind: 'unavailable' } },
      );
      const { value } = await importing(other, zipOf({ svcaccts: { first: keyOf('ann', { policy: 'readonly' }) } }));
      expect(value).toMatchObject({
        added: {},
        failed: {
          serviceAccounts: [{ name: 'first', reason: expect.stringMatching(/AWAY.*not reachable yet/) as string }],
        },
      });
    });
  });

  it('is refused by older clients where something could not be taken', async () => {
    const plain = await zipOf({ users: { bob: { secretKey: 'x' }, ann: { secretKey: 'ann-password' } } });
    expect(await test.call('root', 'PUT', 'import-iam', { plain })).toMatchObject({
      status: 400,
      value: {
        Message:
          'Some could not be imported. bob: A secret key has at least 8 characters, at most 128 bytes, and no control character.',
      },
    });
    const { archive } = await exported(test);
    expect((await test.call('root', 'PUT', 'import-iam', { plain: archive })).status).toBe(200);
  });

  it('brings nobody but root keys of root', async () => {
    await test.identities.putUser({ accessKey: 'admin', secretKey: 'admin-password' });
    await test.identities.attach({ kind: 'user', name: 'admin' }, ['consoleAdmin']);
    const plain = await zipOf({ svcaccts: { back: { parent: 'root', secretKey: 'back-password' } } });
    expect((await importing(test, plain, 'admin')).value).toMatchObject({
      failed: { serviceAccounts: [{ name: 'back', reason: expect.stringContaining('root') as string }] },
    });
    expect(await test.identities.serviceAccount('back')).toBeUndefined();
  });

  it('does not take the access key of another user', async () => {
    const plain = await zipOf({ svcaccts: { robot: { parent: 'bob', secretKey: 'bobs-robot-now' } } });
    expect((await importing(test, plain)).value).toMatchObject({ failed: { serviceAccounts: [{ name: 'robot' }] } });
    expect(await test.identities.serviceAccount('robot')).toMatchObject({ secretKey: 'robot-password' });
  });

  it.each([
    ['no zip file', Buffer.from('rubbish'), /End of central directory record/i],
    ['nothing of identities', writeZip([{ name: 'a', content: Buffer.from('{}') }], new Date()), /none of the files/],
    ['a file that is no JSON', zipOf({ users: '{"ann": {"secretKey": "in-the-open' }), /users.json is no JSON/],
    ['a file of another shape', zipOf({ users: [] }), /users.json is not as expected/],
    ['a name that leads out', leadingOut(), /invalid relative path/],
  ])('is refused with %s, before anything is changed', async (_, plain, message) => {
    const rejected = await importing(test, plain);
    expect(rejected).toMatchObject({ status: 400, value: { Code: 'XCofferInvalidRequest' } });
    expect((rejected.value as { Message: string }).Message).toMatch(message);
    expect(JSON.stringify(rejected.value)).not.toContain('in-the-open');
  });

  it('is for those alone who have the right', async () => {
    expect((await test.call('ann', 'GET', 'export-iam')).status).toBe(403);
    expect((await importing(test, zipOf({ users: {} }), 'ann')).status).toBe(403);
  });
});

const allowing = (...actions: string[]) =>
  JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: actions, Resource: '*' }] });

/** A user with these rights and no other. */
async function clerk(...actions: string[]): Promise<string> {
  await test.identities.putUser({ accessKey: 'clerk', secretKey: 'clerk-password' });
  await test.identities.putPolicy('clerk', allowing(...actions));
  await test.identities.setAttached({ kind: 'user', name: 'clerk' }, ['clerk']);
  return 'clerk';
}

async function filesFor(by: string): Promise<Record<string, Record<string, { secretKey?: string }>>> {
  const { status, bytes } = await test.call(by, 'GET', 'export-iam');
  expect(status).toBe(200);
  const entries = await readZip(bytes, archiveLimits);
  return Object.fromEntries(
    entries.map(({ name, content }) => [
      name.replace(/^iam-assets\/|\.json$/g, ''),
      JSON.parse(content.toString()) as Record<string, { secretKey?: string }>,
    ]),
  );
}

describe('an export', () => {
  it('gives no secret key to a caller who may only export, and says so', async () => {
    const by = await clerk('admin:ExportIAM');
    const { bytes } = await test.call(by, 'GET', 'export-iam');
    const contents = (await readZip(bytes, archiveLimits)).map(({ content }) => content.toString());
    expect(contents.join('')).not.toMatch(/-password|secretKey/);
    expect(await filesFor(by)).toMatchObject({
      users: { ann: { status: 'enabled' } },
      coffer_withheld: { users: ['ann', 'bob', 'clerk'], serviceAccounts: ['ofeve', 'ofroot', 'robot'] },
    });
  });

  it('gives the secret keys that the caller may replace, and never those of root', async () => {
    const files = await filesFor(await clerk('admin:ExportIAM', 'admin:CreateUser', 'admin:UpdateServiceAccount'));
    expect(files['users']?.['ann']?.secretKey).toBe('ann-password');
    expect(files['svcaccts']?.['robot']?.secretKey).toBe('robot-password');
    expect(files['svcaccts']?.['ofroot']?.secretKey).toBeUndefined();
    expect(files['coffer_withheld']).toEqual({ users: [], serviceAccounts: ['ofroot'] });
  });

  it('gives narrowed keys of root nothing of root', async () => {
    await test.identities.createServiceAccount({
      subject: { kind: 'root' },
      accessKey: 'exporter',
      secretKey: 'exporter-password',
      policy: allowing('admin:*'),
    });
    expect((await filesFor('exporter'))['svcaccts']?.['ofroot']?.secretKey).toBeUndefined();
  });

  it('without secret keys changes what is there, and makes nobody', async () => {
    const { bytes } = await test.call(await clerk('admin:ExportIAM'), 'GET', 'export-iam');
    expect((await importing(test, bytes)).value).toMatchObject({ failed: {} });
    expect(await test.identities.user('ann')).toMatchObject({ secretKey: 'ann-password' });
    expect((await importing(await adminTest(), bytes)).value).toMatchObject({
      failed: { users: [{ name: 'ann', reason: expect.stringContaining('holds no secret key') as string }, {}, {}] },
    });
  });
});

describe('an import', () => {
  const everything = {
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Action: ['admin:*', 's3:*'], Resource: ['*'] }],
  };
  const attack = () =>
    zipOf({
      policies: { clerk: everything, all: everything },
      users: { ann: { secretKey: 'taken-over' }, puppet: { secretKey: 'puppet-password' } },
      groups: { staff: { status: 'enabled', members: ['clerk'] } },
      svcaccts: {
        robot: { parent: 'ann', secretKey: 'taken-over' },
        forged: { parent: 'x', secretKey: 'forged-password', cofferSubject: { ...eve, policies: ['consoleAdmin'] } },
        toroot: { parent: 'root', secretKey: 'taken-over' },
      },
      user_mappings: { clerk: { policy: 'consoleAdmin' } },
      group_mappings: { staff: { policy: 'consoleAdmin' }, 'cn=g,dc=y': { policy: 'consoleAdmin' } },
      stsuser_mappings: { 'uid=x,dc=y': { policy: 'consoleAdmin' } },
      coffer_attachments: [{ target: claim, policies: ['consoleAdmin'] }],
    });

  it('changes nothing for a caller who may only import, and says which rights it takes', async () => {
    const by = await clerk('admin:ImportIAM', 'admin:ExportIAM');
    const before = await exported(test);
    const { status, value } = await importing(test, attack(), by);
    expect(status).toBe(200);
    expect(value).toMatchObject({ added: {}, skipped: {} });
    const { reasons } = value as { reasons: string[] };
    expect(reasons).toHaveLength(13);
    for (const right of ['CreatePolicy', 'CreateUser', 'CreateServiceAccount', 'AttachUserOrGroupPolicy']) {
      expect(reasons.join()).toContain(`admin:${right}`);
    }
    expect((await exported(test)).files).toEqual(before.files);
    expect((await test.call(by, 'PUT', 'import-iam', { plain: await attack() })).status).toBe(400);
  });

  it.each([
    ['policies', ['admin:CreatePolicy'], { policies: ['clerk', 'all'] }],
    ['users', ['admin:CreateUser'], { users: ['ann', 'puppet'] }],
    ['groups', ['admin:AddUserToGroup', 'admin:EnableGroup'], { groups: ['staff'] }],
    ['known access keys', ['admin:UpdateServiceAccount'], { serviceAccounts: ['robot'] }],
    [
      'people whom a provider knows',
      ['admin:CreateServiceAccount', 'admin:UpdatePolicyAssociation'],
      expect.objectContaining({ serviceAccounts: ['forged'] }) as object,
    ],
    ['new access keys without the right to give rights', ['admin:CreateServiceAccount'], {}],
  ])('takes the right of the single call for %s', async (_, rights, added) => {
    const { value } = await importing(test, attack(), await clerk('admin:ImportIAM', ...rights));
    expect((value as { added: object }).added).toEqual(added);
  });

  it.each(['root', 'user:ann', 'auditor', 'tls:x'])('takes no person of a provider named %s', async (parent) => {
    const svcaccts = { forged: { parent, secretKey: 'forged-password', cofferSubject: { ...eve, parent } } };
    expect((await importing(test, zipOf({ svcaccts }))).value).toMatchObject({
      failed: { serviceAccounts: [{ name: 'forged' }] },
    });
  });

  it('by a narrowed key makes keys of its owner that are narrowed alike', async () => {
    await clerk('admin:*', 's3:GetObject');
    const policy = allowing('admin:*');
    const subject = { kind: 'user', name: 'clerk' } as const;
    await test.identities.createServiceAccount({ subject, accessKey: 'narrow', secretKey: 'narrow-password', policy });
    const svcaccts = { wide: { parent: 'clerk', secretKey: 'wide-password' } };
    expect((await importing(test, zipOf({ svcaccts }), 'narrow')).value).toMatchObject({ failed: {} });
    expect((await test.identities.serviceAccount('wide'))?.policy).toContain('admin:*');
  });
});
