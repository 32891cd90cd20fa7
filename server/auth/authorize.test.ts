import { beforeEach, describe, expect, it } from 'vitest';
import { parseBucketPolicy, parsePolicyDocument } from '../../protocol/policy/parse-policy.ts';
import { authorize, authorizeRequest, explainDecision } from './authorize.ts';
import { federated, fixedHolders } from '../../test/support/auth/identities.ts';
import type { FederatedSubject } from './identities/subject.ts';
import type { AccessRequest, Principal, TemporaryPrincipal } from './principal.ts';

const document = (...statements: Record<string, unknown>[]) =>
  parsePolicyDocument({ Version: '2012-10-17', Statement: statements });
const allow = (action: string, resource: string) => ({
  Effect: 'Allow',
  Action: [action],
  Resource: [`arn:aws:s3:::${resource}`],
});

const policies = fixedHolders(
  new Map([
    ['read', document(allow('s3:GetObject', '*'))],
    ['write', document(allow('s3:PutObject', '*'))],
    ['no-secrets', document({ ...allow('s3:*', 'secrets/*'), Effect: 'Deny', Sid: 'NoSecrets' })],
    ['home', document(allow('s3:*', 'home/${jwt:preferred_username}/*'))],
    ['by-parent', document(allow('s3:*', 'home/${aws:username}/*'))],
    [
      'no-team',
      document(allow('s3:*', '*'), {
        ...allow('s3:*', '*'),
        Effect: 'Deny',
        Condition: { StringEquals: { 'jwt:team': 'a' } },
      }),
    ],
    [
      'group',
      document({ ...allow('s3:GetObject', 'team/*'), Condition: { StringEquals: { 'jwt:groups': 'developers' } } }),
    ],
  ]),
);

const bucketStatement = (changes: Record<string, unknown>) => ({
  Effect: 'Allow',
  Principal: '*',
  Action: ['s3:GetObject'],
  Resource: ['arn:aws:s3:::open/*'],
  ...changes,
});
let bucketPolicy: Record<string, ReturnType<typeof parseBucketPolicy>> = {};
beforeEach(() => {
  bucketPolicy = {};
});
const open = (...changes: Record<string, unknown>[]) => {
  bucketPolicy['open'] = parseBucketPolicy({ Statement: changes.map(bucketStatement) }, 'open');
};
const noSources = {
  bucketAccess: () => Promise.resolve(undefined),
  objectTags: () => Promise.resolve(undefined),
  objectAcl: () => Promise.resolve(undefined),
};

let objectTags: Record<string, Record<string, string>> = {};
let tagsRead: string[] = [];
beforeEach(() => {
  objectTags = {};
  tagsRead = [];
});
const sources = {
  bucketAccess: (bucket: string) => {
    const policy = bucketPolicy[bucket];
    return Promise.resolve(policy && { policy });
  },
  objectTags: (bucket: string, key: string, versionId?: string) => {
    const object = `${bucket}/${key}${versionId === undefined ? '' : `@${versionId}`}`;
    tagsRead.push(object);
    const tags = objectTags[object];
    return Promise.resolve(tags && { tags, id: `id of ${object}` });
  },
  objectAcl: () => Promise.resolve(undefined),
};

const ann = ({
  sessionPolicy,
  ...changes
}: Partial<FederatedSubject> & Pick<TemporaryPrincipal, 'sessionPolicy'> = {}): TemporaryPrincipal => ({
  kind: 'temporary',
  accessKey: 'AK',
  subject: federated({ parent: 'parent-hash', policies: ['read'], ...changes }),
  ...(sessionPolicy === undefined ? {} : { sessionPolicy }),
  expiration: new Date(),
});

const decide = (principal: Principal, action: string, resource: string) =>
  authorize({ principal, action, resource, context: {} }, policies, sources);
const kind = async (principal: Principal, action: string, resource: string) =>
  (await decide(principal, action, resource)).kind;

describe('authorize', () => {
  it('lets root do everything and a stranger nothing', async () => {
    expect(await kind({ kind: 'root', accessKey: 'root' }, 'admin:ServerInfo', '')).toBe('allow');
    expect(await kind({ kind: 'anonymous' }, 's3:GetObject', 'bucket/key')).toBe('deny');
  });

  it('refuses a caller without credentials before it computes condition keys, where nothing is public', async () => {
    const request: AccessRequest = {
      principal: { kind: 'anonymous' },
      action: 's3:GetObject',
      resource: 'bucket/key',
      get context(): never {
        throw new Error('the condition keys were read');
      },
    };
    expect(await authorize(request, policies, sources)).toMatchObject({ kind: 'deny' });
  });

  it('gives the union of the policies and nothing else', async () => {
    const both = ann({ policies: ['read', 'write'] });
    expect(await kind(both, 's3:GetObject', 'bucket/key')).toBe('allow');
    expect(await kind(both, 's3:PutObject', 'bucket/key')).toBe('allow');
    expect(await kind(both, 's3:DeleteObject', 'bucket/key')).toBe('deny');
    expect(await kind(ann(), 's3:PutObject', 'bucket/key')).toBe('deny');
  });

  it('lets one Deny outweigh every Allow', async () => {
    const careful = ann({ policies: ['read', 'no-secrets'] });
    expect(await kind(careful, 's3:GetObject', 'secrets/key')).toBe('deny');
    expect(await kind(careful, 's3:GetObject', 'bucket/key')).toBe('allow');
  });

  it('gives nothing for policies that do not exist, or for none', async () => {
    expect(await kind(ann({ policies: [] }), 's3:GetObject', 'bucket/key')).toBe('deny');
    expect(await decide(ann({ policies: ['gone'] }), 's3:GetObject', 'bucket/key')).toMatchObject({
      kind: 'deny',
      reason: expect.stringContaining('gone') as string,
    });
  });

  it('narrows by the session policy and never widens', async () => {
    const narrowed = ann({ policies: ['read'], sessionPolicy: document(allow('s3:*', 'reports/*')) });
    expect(await kind(narrowed, 's3:GetObject', 'reports/key')).toBe('allow');
    expect(await kind(narrowed, 's3:GetObject', 'bucket/key')).toBe('deny');
    expect(await kind(narrowed, 's3:PutObject', 'reports/key')).toBe('deny');
  });

  it('puts claims into resources, and matches nothing without the claim', async () => {
    const home = ann({ policies: ['home'], claims: { preferred_username: 'ann' } });
    expect(await kind(home, 's3:PutObject', 'home/ann/key')).toBe('allow');
    expect(await kind(home, 's3:PutObject', 'home/bob/key')).toBe('deny');
    expect(await kind(ann({ policies: ['home'] }), 's3:PutObject', 'home//key')).toBe('deny');
  });

  it('gives no wildcard to a user with the name *', async () => {
    const star = ann({ policies: ['home'], claims: { preferred_username: '*' } });
    expect(await kind(star, 's3:PutObject', 'home/bob/key')).toBe('deny');
  });

  it('names a person by what they cannot choose', async () => {
    const mallory = ann({ policies: ['by-parent'], displayName: 'bob', claims: { preferred_username: 'bob' } });
    expect(await kind(mallory, 's3:PutObject', 'home/bob/key')).toBe('deny');
    expect(await kind(mallory, 's3:PutObject', 'home/parent-hash/key')).toBe('allow');
  });

  it('offers claims, lists too, to conditions', async () => {
    expect(await kind(ann({ policies: ['group'], claims: { groups: 'developers' } }), 's3:GetObject', 'team/key')).toBe(
      'allow',
    );
    expect(await kind(ann({ policies: ['group'], claims: { groups: ['sales'] } }), 's3:GetObject', 'team/key')).toBe(
      'deny',
    );
  });

  it('offers the groups of a user to conditions, without those that are disabled', async () => {
    const condition = { 'ForAnyValue:StringEquals': { 'aws:groups': 'staff' } };
    const read = document({ ...allow('s3:GetObject', '*'), Condition: condition });
    const of = (status: 'enabled' | 'disabled') => ({
      ...fixedHolders(new Map([['read', read]]), {
        bob: [{ format: 1, name: 'staff', members: ['bob'], status, updatedAt: 0 }],
      }),
      policiesOf: () => Promise.resolve(['read']),
    });
    const ask = async (name: string, holders: ReturnType<typeof of>) => {
      const principal = { kind: 'user', accessKey: name, subject: { kind: 'user', name } } as const;
      const request = { principal, action: 's3:GetObject', resource: 'b/k', context: {} };
      return (await authorize(request, holders, noSources)).kind;
    };
    expect(await ask('bob', of('enabled'))).toBe('allow');
    expect(await ask('bob', of('disabled'))).toBe('deny');
    expect(await ask('eve', of('enabled'))).toBe('deny');
  });

  it('does not let the request say who it is', async () => {
    const request = { action: 's3:GetObject', resource: 'team/key', context: { 'jwt:groups': ['developers'] } };
    const principal = ann({ policies: ['group'], claims: { groups: 'sales' } });
    expect((await authorize({ ...request, principal }, policies, noSources)).kind).toBe('deny');
  });

  it.each([
    ['of a session that an older server stored without it', {}, 'deny'],
    ['of a session with all claims', { claimsKept: 'all' }, 'allow'],
    ['of a session whose token has too many claims', { claimsKept: 'part' }, 'deny'],
    ['that is too long', { claimsKept: 'all', claims: { team: null } }, 'deny'],
  ] as const)('holds a Deny by a claim %s', async (_, changes, expected) => {
    const principal = ann({ policies: ['no-team'], ...changes });
    expect((await decide(principal, 's3:GetObject', 'bucket/key')).kind).toBe(expected);
  });

  it('explains itself by policy and statement', async () => {
    expect((await decide(ann(), 's3:GetObject', 'bucket/key')).reason).toMatch(/ann \(P\).*#1.*"read"/);
    const denied = await decide(ann({ policies: ['read', 'no-secrets'] }), 's3:GetObject', 'secrets/key');
    expect(denied.reason).toMatch(/NoSecrets.*"no-secrets"/);
  });

  it('lets nobody in when policies cannot be read', async () => {
    const broken = { ...policies, policy: () => Promise.reject(new Error('disk')) };
    const request = { principal: ann(), action: 's3:GetObject', resource: 'b/k', context: {} };
    await expect(authorize(request, broken, noSources)).rejects.toThrow('disk');
  });
});

/** Whether a stranger from there may read `open/key`. */
const from = async (address: string, secure: boolean) => {
  const context = { 'aws:SourceIp': [address], 'aws:SecureTransport': [String(secure)] };
  const request = { principal: { kind: 'anonymous' } as const, action: 's3:GetObject', resource: 'open/key', context };
  return (await authorize(request, policies, sources)).kind;
};

describe('the policy of a bucket', () => {
  const stranger: Principal = { kind: 'anonymous' };
  const nobody = ann({ policies: [] });

  it('opens what it allows everyone, to strangers and to people without a policy', async () => {
    open({});
    for (const principal of [stranger, nobody]) {
      expect(await kind(principal, 's3:GetObject', 'open/key')).toBe('allow');
      expect(await kind(principal, 's3:PutObject', 'open/key')).toBe('deny');
      expect(await kind(principal, 's3:GetObject', 'other/key')).toBe('deny');
    }
  });

  it('gives strangers nothing of the bucket itself where it opens the objects', async () => {
    open({ Action: ['s3:*'] });
    expect(await kind(stranger, 's3:GetObject', 'open/key')).toBe('allow');
    for (const action of ['s3:ListBucket', 's3:DeleteBucket', 's3:PutBucketPolicy']) {
      expect(await kind(stranger, action, 'open')).toBe('deny');
    }
  });

  it.each([
    ['a name', 'parent-hash', 'allow'],
    ['an ARN', 'arn:aws:iam::123456789012:user/parent-hash', 'allow'],
    ['an ARN with a path', 'arn:aws:iam:::user/team/parent-hash', 'allow'],
    ['the access key, which its owner chose', 'AK', 'deny'],
    ['a pattern that the access key fits', 'A*', 'deny'],
    ['an ARN of the access key', 'arn:aws:iam:::user/AK', 'deny'],
    ['a pattern', 'parent-*', 'allow'],
    ['another name', 'somebody', 'deny'],
    ['the account', 'arn:aws:iam::123456789012:root', 'deny'],
  ] as const)('knows people by %s', async (_, name, expected) => {
    open({ Principal: { AWS: ['nobody-else', name] } });
    expect(await kind(nobody, 's3:GetObject', 'open/key')).toBe(expected);
    expect(await kind(stranger, 's3:GetObject', 'open/key')).toBe('deny');
  });

  it.each([
    ['a service account of a user', { kind: 'service-account', subject: { kind: 'user', name: 'mallory' } }],
    ['a service account of a person', { kind: 'service-account', subject: federated({ parent: 'parent-hash' }) }],
    [
      'temporary credentials',
      { kind: 'temporary', expiration: new Date(), subject: { kind: 'user', name: 'mallory' } },
    ],
  ] as const)('takes %s named as the principal for none', async (_, credentials) => {
    open({ Principal: { AWS: ['auditor', 'partner-*'] }, Action: ['s3:*'] });
    for (const accessKey of ['auditor', 'partner-evil']) {
      expect(await kind({ accessKey, ...credentials }, 's3:GetObject', 'open/key')).toBe('deny');
      expect(await kind({ accessKey, ...credentials }, 's3:PutObject', 'open/key')).toBe('deny');
    }
    const auditor = { kind: 'user', name: 'auditor' } as const;
    expect(await kind({ ...credentials, accessKey: 'ANY', subject: auditor }, 's3:GetObject', 'open/key')).toBe(
      'allow',
    );
  });

  it('names the keys of root by root, never by the name that was chosen for a key', async () => {
    const inlinePolicy = document(allow('s3:*', 'home/${aws:username}/*'));
    const key = { kind: 'service-account', accessKey: 'ann', subject: { kind: 'root' }, inlinePolicy } as const;
    expect(await kind(key, 's3:PutObject', 'home/ann/key')).toBe('deny');
    expect(await kind(key, 's3:PutObject', 'home/root/key')).toBe('allow');
  });

  it('denies what a person may otherwise do, and cannot give what the person is denied', async () => {
    open({}, { Effect: 'Deny', Principal: { AWS: 'AK' }, Resource: ['arn:aws:s3:::open/private/*'] });
    expect(await kind(ann(), 's3:GetObject', 'open/private/key')).toBe('deny');
    expect(await kind(ann(), 's3:GetObject', 'open/key')).toBe('allow');
    bucketPolicy['secrets'] = parseBucketPolicy(
      { Statement: [bucketStatement({ Resource: ['arn:aws:s3:::secrets/*'] })] },
      'secrets',
    );
    expect(await kind(ann({ policies: ['no-secrets'] }), 's3:GetObject', 'secrets/key')).toBe('deny');
  });

  it('does not widen what the session was narrowed to', async () => {
    open({});
    const narrowed = ann({ sessionPolicy: document(allow('s3:GetObject', 'open/mine/*')) });
    expect(await kind(narrowed, 's3:GetObject', 'open/mine/key')).toBe('allow');
    expect(await kind(narrowed, 's3:GetObject', 'open/key')).toBe('deny');
  });

  it('asks where a request comes from, and whether it is encrypted', async () => {
    open(
      { Condition: { IpAddress: { 'aws:SourceIp': ['10.0.0.0/8', '2001:db8::/32'] } } },
      { Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
    );
    expect(await from('10.1.2.3', true)).toBe('allow');
    expect(await from('2001:db8::1', true)).toBe('allow');
    expect(await from('11.1.2.3', true)).toBe('deny');
    expect(await from('10.1.2.3', false)).toBe('deny');
  });

  it('cannot lock root out', async () => {
    open({ Effect: 'Deny', Action: ['s3:*'] });
    expect(await kind({ kind: 'root', accessKey: 'root' }, 's3:PutBucketPolicy', 'open')).toBe('allow');
  });
});

const explained = (principal: Principal, action: string, resource: string) =>
  explainDecision({ principal, action, resource, context: {} }, policies, sources);

describe('authorizeRequest', () => {
  it('does not need the further action', async () => {
    const access = { authorize: (request: AccessRequest) => authorize(request, policies, sources) };
    const right = { action: 's3:GetObject', alsoDeniedBy: 's3:PutObject', resource: 'bucket/key' };
    const result = await authorizeRequest(access, { principal: ann(), conditions: {} }, right);
    expect(result?.decision.kind).toBe('allow');
  });

  it('denies what only the further action is denied', async () => {
    const holders = fixedHolders(
      new Map([
        ['all', document(allow('s3:*', '*'), { ...allow('s3:DeleteObject', '*'), Effect: 'Deny', Sid: 'Keep' })],
      ]),
    );
    const access = { authorize: (request: AccessRequest) => authorize(request, holders, sources) };
    const context = { principal: ann({ policies: ['all'] }), conditions: {} };
    const right = { action: 's3:DeleteObjectVersion', resource: 'bucket/key' };
    expect((await authorizeRequest(access, context, right))?.decision.kind).toBe('allow');
    expect(await authorizeRequest(access, context, { ...right, alsoDeniedBy: 's3:DeleteObject' })).toMatchObject({
      action: 's3:DeleteObject',
      decision: { kind: 'deny' },
    });
  });
});

describe('explainDecision', () => {
  it('decides as authorize does, for people, the bucket, sessions and root', async () => {
    open({ Effect: 'Deny', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::open/secret'] });
    const narrowed = ann({ sessionPolicy: document(allow('s3:GetObject', 'open/*')) });
    for (const principal of [ann(), narrowed, { kind: 'root', accessKey: 'root' } as const]) {
      for (const resource of ['open/key', 'open/secret', 'other/key']) {
        const { kind: effect } = await decide(principal, 's3:GetObject', resource);
        expect(await explained(principal, 's3:GetObject', resource)).toMatchObject({ effect });
      }
    }
  });

  it('says who asks, what each statement says, and which policies are gone', async () => {
    expect(await explained(ann({ policies: ['read', 'gone'] }), 's3:PutObject', 'b/k')).toMatchObject({
      effect: 'deny',
      who: 'ann (P)',
      missing: ['gone'],
      policies: [{ policy: 'read', effect: 'none', statements: [{ applied: false, mismatch: { element: 'Action' } }] }],
    });
  });
});

const tagged = (operator: string, key: string, value: string) => ({ Condition: { [operator]: { [key]: value } } });

describe('tags of the object', () => {
  const stranger: Principal = { kind: 'anonymous' };
  const secret = tagged('StringEquals', 's3:ExistingObjectTag/class', 'secret');
  const mayRead = (resource: string) => kind(stranger, 's3:GetObject', resource);

  it('are not read where no policy mentions them', async () => {
    open({});
    await mayRead('open/key');
    expect(tagsRead).toEqual([]);
  });

  it('deny', async () => {
    open({}, { Effect: 'Deny', Action: 's3:*', ...secret });
    objectTags = { 'open/key': { class: 'secret' }, 'open/other': { class: 'public' } };
    expect(await mayRead('open/key')).toBe('deny');
    expect(await mayRead('open/other')).toBe('allow');
    expect(await mayRead('open/absent')).toBe('allow');
  });

  it.each([
    [
      'a Deny by another value',
      { Effect: 'Deny', ...tagged('StringNotEquals', 's3:ExistingObjectTag/class', 'public') },
    ],
    ['a Deny by absence', { Effect: 'Deny', ...tagged('Null', 's3:ExistingObjectTag/class', 'true') }],
  ])('are absent of an absent object: %s', async (_, statement) => {
    open({}, statement);
    objectTags = { 'open/key': { class: 'public' } };
    expect(await mayRead('open/absent')).toBe('deny');
    expect(await mayRead('open/key')).toBe('allow');
  });

  it('allow', async () => {
    open(tagged('StringEquals', 's3:existingobjecttag/Class', 'public'));
    objectTags = { 'open/key': { class: 'public' }, 'open/other': { class: 'secret' } };
    expect(await mayRead('open/key')).toBe('allow');
    expect(await mayRead('open/other')).toBe('deny');
  });

  it('are all seen, where they differ only in case', async () => {
    open({}, { Effect: 'Deny', ...secret });
    objectTags = { 'open/key': { class: 'secret', CLASS: 'public' } };
    expect(await mayRead('open/key')).toBe('deny');
  });

  it('are found by a name whose lower case is longer', async () => {
    open({}, { Effect: 'Deny', ...tagged('StringEquals', 's3:ExistingObjectTag/\u0130l', 'x') });
    objectTags = { 'open/key': { '\u0130l': 'x' } };
    expect(await mayRead('open/key')).toBe('deny');
  });

  it('are those of the named version', async () => {
    open({}, { Effect: 'Deny', ...secret });
    objectTags = { 'open/key': { class: 'secret' }, 'open/key@1': { class: 'public' } };
    const context = { 's3:versionid': ['1'] };
    const request = { principal: stranger, action: 's3:GetObject', resource: 'open/key', context };
    expect((await authorize(request, policies, sources)).kind).toBe('allow');
    expect(tagsRead).toEqual(['open/key@1']);
  });

  it('cannot be set by the context of a request', async () => {
    open({}, { Effect: 'Deny', ...secret });
    objectTags = { 'open/key': { class: 'secret' } };
    const context = { 's3:ExistingObjectTag/class': ['public'] };
    const request = { principal: stranger, action: 's3:GetObject', resource: 'open/key', context };
    expect((await authorize(request, policies, sources)).kind).toBe('deny');
  });

  it('are a variable of a resource', async () => {
    open({ Resource: 'arn:aws:s3:::open/${s3:ExistingObjectTag/team}/*' });
    objectTags = { 'open/red/key': { team: 'red' }, 'open/blue/key': { team: 'red' } };
    expect(await mayRead('open/red/key')).toBe('allow');
    expect(await mayRead('open/blue/key')).toBe('deny');
  });

  it('narrow a session', async () => {
    const narrowed = ann({ sessionPolicy: document({ ...allow('s3:GetObject', '*'), ...secret }) });
    objectTags = { 'open/key': { class: 'secret' } };
    expect(await kind(narrowed, 's3:GetObject', 'open/key')).toBe('allow');
    expect(await kind(narrowed, 's3:GetObject', 'open/other')).toBe('deny');
  });

  it('are no obstacle before the names of the objects are known', async () => {
    open({ Action: 's3:DeleteObject', ...secret });
    const unknown = { below: true, keys: [] };
    const request = { principal: stranger, action: 's3:DeleteObject', resource: 'open/', context: {}, unknown };
    expect((await authorize(request, policies, sources)).kind).toBe('allow');
    expect(tagsRead).toEqual([]);
  });

  it('that cannot be read refuse the request', async () => {
    open({}, { Effect: 'Deny', ...secret });
    const request = { principal: stranger, action: 's3:GetObject', resource: 'open/key', context: {} };
    const broken = { ...sources, objectTags: () => Promise.reject(new Error('disk')) };
    await expect(authorize(request, policies, broken)).rejects.toThrow('disk');
  });

  it('are part of the explanation', async () => {
    open({}, { Effect: 'Deny', ...secret });
    objectTags = { 'open/key': { class: 'secret' } };
    const explanation = await explainDecision(
      { principal: stranger, action: 's3:GetObject', resource: 'open/key', context: {} },
      policies,
      sources,
    );
    expect(explanation.effect).toBe('deny');
  });
});
