import type { RuleCases, Spec } from './rule-case.ts';

const bucket: Spec = { tenantRef: { name: 'demo' } };

const target = { name: 'dr', endpoint: 'https://dr.example.com', bucket: 'copy', credentialsSecret: { name: 'dr' } };
const replicated = (rules: readonly Spec[], more: Spec = { versioning: 'Enabled' }): Spec => ({
  ...bucket,
  ...more,
  replication: { targets: [target], rules },
});

export const bucketCases: RuleCases = {
  kind: 'Bucket',
  plural: 'buckets',
  good: [
    { title: 'the least', spec: bucket },
    {
      title: 'every field',
      spec: {
        ...bucket,
        bucketName: 'reports.2026',
        encryption: { algorithm: 'aws:kms', keyName: 'demo-reports' },
        policy: { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Principal: '*', Action: ['s3:GetObject'] }] },
        tags: { team: 'storage' },
        versioning: 'Enabled',
        lifecycle: [
          {
            prefix: 'logs/',
            tags: { keep: 'no' },
            largerThan: '1Mi',
            smallerThan: '10Gi',
            expiration: { days: 30, allVersions: true },
            noncurrentExpiration: { days: 7, keep: 3 },
            transition: { days: 0, tier: 'COLD' },
            noncurrentTransition: { days: 1, keep: 1, tier: 'COLD' },
          },
          { expiration: { date: '2030-01-31' } },
          { expiration: { loneDeleteMarkers: true }, deleteMarkerDays: 5, abortUploadsDays: 1 },
          { transition: { date: '2030-01-31', tier: 'COLD' }, noncurrentExpiration: { keep: 3 } },
        ],
        replication: {
          targets: [
            {
              ...target,
              region: 'eu-west-1',
              addressing: 'path',
              bandwidthLimit: '200M',
              disableProxy: true,
              synchronous: true,
            },
          ],
          rules: [
            { target: 'dr', tags: { team: 'storage' } },
            {
              target: 'dr',
              prefix: 'a/',
              deleteMarkers: true,
              deletes: true,
              existingObjects: true,
              replicaModifications: false,
            },
          ],
        },
        deletionPolicy: 'Delete',
      },
    },
    { title: 'no rules', spec: { ...bucket, lifecycle: [], replication: {} } },
  ],
  bad: [
    {
      title: 'a rule of lifecycle whose tags name none',
      spec: { ...bucket, lifecycle: [{ tags: {}, expiration: { days: 1 } }] },
      message: '.tags: ',
    },
    {
      title: 'a rule of lifecycle that does nothing',
      spec: { ...bucket, lifecycle: [{ prefix: 'logs/' }] },
      message: 'a rule of lifecycle needs at least one of expiration',
    },
    {
      title: 'an expiration at two times',
      spec: { ...bucket, lifecycle: [{ expiration: { days: 1, date: '2030-01-31' } }] },
      message: 'expiration of a rule of lifecycle needs exactly one of days, date, loneDeleteMarkers',
    },
    {
      title: 'a transition at no time',
      spec: { ...bucket, lifecycle: [{ transition: { tier: 'COLD' } }] },
      message: 'transition of a rule of lifecycle needs exactly one of days, date',
    },
    {
      title: 'noncurrent versions at no time',
      spec: { ...bucket, lifecycle: [{ noncurrentExpiration: {} }] },
      message: 'noncurrentExpiration of a rule of lifecycle needs at least one of days, keep',
    },
    {
      title: 'a rule for an unknown target',
      spec: replicated([{ target: 'elsewhere' }]),
      message: 'a rule of replication names a target that is none of replication.targets',
    },
    {
      title: 'delete markers by tag',
      spec: replicated([{ target: 'dr', tags: { a: 'b' }, deleteMarkers: true }]),
      message: 'a rule of replication with tags cannot have deleteMarkers',
    },
    {
      title: 'replication without versions',
      spec: replicated([{ target: 'dr' }], {}),
      message: 'replication.targets need versioning: Enabled',
    },
    {
      title: 'a key for SSE-S3',
      spec: { ...bucket, encryption: { algorithm: 'AES256', keyName: 'first' } },
      message: 'encryption.keyName goes with the algorithm aws:kms',
    },
  ],
  badChanges: [
    {
      title: 'another name of the bucket',
      from: bucket,
      to: { ...bucket, bucketName: 'another' },
      message: 'bucketName may not change',
    },
    {
      title: 'another tenant',
      from: bucket,
      to: { tenantRef: { name: 'other' } },
      message: 'tenantRef may not change',
    },
  ],
};

const statement = { Effect: 'Allow', Action: ['s3:GetObject'], Resource: 'arn:aws:s3:::photos/*' };
const document = { Version: '2012-10-17', Statement: [statement] };
const policy: Spec = { tenantRef: { name: 'demo' }, document };

export const policyCases: RuleCases = {
  kind: 'Policy',
  plural: 'policies',
  good: [
    { title: 'the least', spec: policy },
    { title: 'a lone statement', spec: { ...policy, document: { ...document, Statement: statement } } },
    { title: 'every field', spec: { ...policy, policyName: 'photos.read', deletionPolicy: 'Retain' } },
  ],
  bad: [
    {
      title: 'a statement that neither allows nor denies',
      spec: { ...policy, document: { ...document, Statement: [{ ...statement, Effect: 'Permit' }] } },
      message: 'supported values: "Allow", "Deny"',
    },
    {
      title: 'a statement without an effect',
      spec: { ...policy, document: { ...document, Statement: [{ Action: 's3:GetObject', Resource: '*' }] } },
      message: 'Effect',
    },
    {
      title: 'a statement without an action',
      spec: { ...policy, document: { ...document, Statement: [{ Effect: 'Allow', Actions: 's3:*', Resource: '*' }] } },
      message: 'Action',
    },
    {
      title: 'a version of a policy that there is not',
      spec: { ...policy, document: { ...document, Version: '2012-10-18' } },
      message: 'Version',
    },
    {
      title: 'a lone statement that neither allows nor denies',
      spec: { ...policy, document: { ...document, Statement: { ...statement, Effect: 'allow' } } },
      message: 'supported values: "Allow", "Deny"',
    },
  ],
  badChanges: [
    {
      title: 'another name of the policy',
      from: policy,
      to: { ...policy, policyName: 'another' },
      message: 'policyName may not change',
    },
    {
      title: 'another tenant',
      from: policy,
      to: { ...policy, tenantRef: { name: 'other' } },
      message: 'tenantRef may not change',
    },
  ],
};

const binding: Spec = { tenantRef: { name: 'demo' }, policies: ['readonly'], subjects: [{ user: 'ann' }] };

export const policyBindingCases: RuleCases = {
  kind: 'PolicyBinding',
  plural: 'policybindings',
  good: [
    { title: 'the least', spec: binding },
    {
      title: 'every field',
      spec: {
        ...binding,
        policies: ['readonly', 'photos'],
        subjects: [
          { user: 'ann' },
          { group: 'Readers of photos' },
          { claim: { identityProvider: 'company', name: 'resource_access/coffer/roles', value: 'read-*' } },
          { serviceAccount: { name: 'backup' } },
          { serviceAccount: { namespace: 'apps', name: '*' } },
        ],
        deletionPolicy: 'Retain',
      },
    },
  ],
  bad: [
    {
      title: 'a subject of two kinds',
      spec: { ...binding, subjects: [{ user: 'ann', group: 'readers' }] },
      message: 'each of subjects has exactly one of user, group, claim, serviceAccount',
    },
    {
      title: 'a subject of no kind',
      spec: { ...binding, subjects: [{ user: 'ann' }, {}] },
      message: 'each of subjects has exactly one of user, group, claim, serviceAccount',
    },
  ],
  badChanges: [
    {
      title: 'another tenant',
      from: binding,
      to: { ...binding, tenantRef: { name: 'other' } },
      message: 'tenantRef may not change',
    },
  ],
};

const user: Spec = { tenantRef: { name: 'demo' } };

export const userCases: RuleCases = {
  kind: 'User',
  plural: 'users',
  good: [
    { title: 'the least', spec: user },
    {
      title: 'every field',
      spec: {
        ...user,
        accessKey: 'ann@example.org',
        disabled: true,
        groups: ['readers', 'writers'],
        credentialsSecret: { name: 'keys.of.ann' },
        deletionPolicy: 'Retain',
      },
    },
  ],
  bad: [],
  badChanges: [
    {
      title: 'another access key',
      from: user,
      to: { ...user, accessKey: 'another' },
      message: 'accessKey may not change',
    },
    {
      title: 'another tenant',
      from: user,
      to: { tenantRef: { name: 'other' } },
      message: 'tenantRef may not change',
    },
  ],
};

const key: Spec = { tenantRef: { name: 'demo' }, user: 'ann' };
const accessKeyPolicy = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: ['s3:*'], Resource: '*' }] };

export const accessKeyCases: RuleCases = {
  kind: 'AccessKey',
  plural: 'accesskeys',
  good: [
    { title: 'the least', spec: key },
    { title: 'one that ends at a time of another zone', spec: { ...key, expiration: '2030-01-31T00:00:00+01:00' } },
    { title: 'one of the root user with a policy', spec: { tenantRef: { name: 'demo' }, policy: accessKeyPolicy } },
    {
      title: 'every field',
      spec: {
        ...key,
        accessKey: 'backup-2026',
        policy: accessKeyPolicy,
        description: 'nightly backup',
        expiration: '2030-01-31T00:00:00Z',
        disabled: true,
        credentialsSecret: { name: 'backup-keys' },
        deletionPolicy: 'Retain',
      },
    },
  ],
  bad: [
    ...['yesterday', '2030-02-31T00:00:00Z', '2030-01-31'].map((expiration) => ({
      title: `one that ends "${expiration}"`,
      spec: { ...key, expiration },
      message: 'must be of type date-time',
    })),
    {
      title: 'a policy that neither allows nor denies',
      spec: { ...key, policy: { ...accessKeyPolicy, Statement: [{ Effect: 'Permit' }] } },
      message: 'supported values: "Allow", "Deny"',
    },
    ...[{}, { Version: '2012-10-17' }, { Version: '2012-10-17', Statement: [] }, { Statement: null }].flatMap(
      (policy) =>
        [key, { tenantRef: key.tenantRef }].map((spec) => ({
          title: `a policy without a statement, ${JSON.stringify(policy)}, ${'user' in spec ? 'of a user' : 'of root'}`,
          spec: { ...spec, policy },
          message: 'spec.policy.Statement',
        })),
    ),
    {
      title: 'one of the root user that nothing narrows',
      spec: { tenantRef: { name: 'demo' } },
      message: 'a key of the root user needs a policy that narrows it',
    },
  ],
  badChanges: [
    { title: 'another owner', from: key, to: { ...key, user: 'bob' }, message: 'user may not change' },
    { title: 'another access key', from: key, to: { ...key, accessKey: 'other' }, message: 'accessKey may not change' },
    {
      title: 'another tenant',
      from: key,
      to: { ...key, tenantRef: { name: 'other' } },
      message: 'tenantRef may not change',
    },
  ],
};
