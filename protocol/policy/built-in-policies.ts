import type { PolicyDocument } from './document.ts';

/** The policies that exist in every store, by name. They have the meaning that MinIO's clients expect. */
export const builtInPolicies: ReadonlyMap<string, PolicyDocument> = new Map([
  ['readonly', allow(['s3:GetBucketLocation', 's3:GetObject'])],
  ['readwrite', allow(['s3:*'])],
  ['writeonly', allow(['s3:PutObject'])],
  [
    'diagnostics',
    allow([
      'admin:ServerTrace',
      'admin:Profiling',
      'admin:ConsoleLog',
      'admin:ServerInfo',
      'admin:TopLocksInfo',
      'admin:OBDInfo',
      'admin:BandwidthMonitor',
      'admin:Prometheus',
    ]),
  ],
  ['consoleAdmin', { version: '2012-10-17', statements: [on([], 'admin:*'), on([], 'kms:*'), on(['*'], 's3:*')] }],
]);

function allow(actions: readonly string[]): PolicyDocument {
  return { version: '2012-10-17', statements: [on(['*'], ...actions)] };
}

function on(resources: readonly string[], ...actions: readonly string[]): PolicyDocument['statements'][number] {
  return {
    effect: 'Allow',
    actions: { kind: 'only', patterns: actions },
    ...(resources.length === 0
      ? {}
      : { resources: { kind: 'only', patterns: resources.map((resource) => `arn:aws:s3:::${resource}`) } }),
    conditions: [],
  };
}
