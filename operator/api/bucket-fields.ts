import { replicaStorageClasses } from '../../protocol/s3/bucket-replication.ts';
import { z } from 'zod';
import { byteQuantity, secretRef, stringMap } from './fields.ts';
import type { Rule } from './rule.ts';

const days = (min: number) => z.int().min(min).max(36_500);
const keep = z.int().min(1).max(100).optional();
const tier = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[A-Z0-9][A-Z0-9._-]*$/);
const prefix = z.string().max(1024).optional().describe('Keys begin so.');
const tags = stringMap(10, z.string().max(256))
  // An empty map would select every object.
  .refine((map) => Object.keys(map).length > 0, 'must name at least one tag: leave it out to select all objects')
  .meta({ minProperties: 1 })
  .optional()
  .describe('Objects have all of these tags.');

/** A day, as the API server checks the format date. */
const day = z
  .string()
  .max(10)
  .refine((value) => z.iso.date().safeParse(value).success, 'must be of type date, such as 2030-01-31')
  .meta({ format: 'date' });

const lifecycleRule = z.strictObject({
  prefix,
  tags,
  largerThan: byteQuantity.optional().describe('Objects have more bytes, such as 1Mi.'),
  smallerThan: byteQuantity.optional().describe('Objects have fewer bytes.'),
  expiration: z
    .strictObject({
      days: days(1).optional().describe('Days after they were written.'),
      date: day.optional().describe('From this day on, UTC.'),
      loneDeleteMarkers: z.literal(true).optional().describe('Delete markers without other versions are removed.'),
      allVersions: z.literal(true).optional().describe('The other versions of the key are removed too.'),
    })
    .optional()
    .describe('Current versions expire: exactly one of days, date, loneDeleteMarkers.'),
  noncurrentExpiration: z
    .strictObject({
      days: days(1).optional().describe('Days after they became noncurrent.'),
      keep: keep.describe('The newest noncurrent versions of a key stay.'),
    })
    .optional()
    .describe('Noncurrent versions are removed: at least one of days, keep.'),
  deleteMarkerDays: days(1)
    .optional()
    .describe('A key whose current version is a delete marker of these days is removed with all versions.'),
  abortUploadsDays: days(1).optional().describe('Unfinished multipart uploads of these days are removed.'),
  transition: z
    .strictObject({
      days: days(0).optional().describe('Days after they were written.'),
      date: day.optional().describe('From this day on, UTC.'),
      tier: tier.describe('Name of a tier of the tenant.'),
    })
    .optional()
    .describe('Current versions move to a tier: exactly one of days, date.'),
  noncurrentTransition: z
    .strictObject({
      days: days(0).describe('Days after they became noncurrent.'),
      keep: keep.describe('The newest noncurrent versions of a key stay where they are.'),
      tier: tier.describe('Name of a tier of the tenant.'),
    })
    .optional()
    .describe('Noncurrent versions move to a tier.'),
});
export type LifecycleRuleFields = z.output<typeof lifecycleRule>;

export const lifecycle = z
  .array(lifecycleRule)
  .max(100)
  .optional()
  .describe('What becomes of objects with time. Without this field rules are left alone; an empty list removes them.')
  .meta({ 'x-kubernetes-list-type': 'atomic' });

const targetName = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);

const replicationTarget = z.strictObject({
  name: targetName.describe('Name that rules use.'),
  endpoint: z
    .string()
    .max(270)
    .regex(/^https?:\/\/([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$/)
    .describe('Address of the other server, https://HOST or https://HOST:PORT.'),
  bucket: z.string().min(3).max(63).describe('Its bucket, which has versioning.'),
  region: z.string().min(1).max(64).optional().describe('Its region.'),
  addressing: z
    .enum(['auto', 'path', 'host'])
    .default('auto')
    .describe('Whether requests name the bucket in the path or in the host.'),
  credentialsSecret: secretRef.describe('Secret with the keys accessKey and secretKey.'),
  bandwidthLimit: byteQuantity.optional().describe('Bytes each second at most, from 100M.'),
  disableProxy: z
    .boolean()
    .default(false)
    .describe('Whether reads of what is not here yet are refused, and not answered from there.'),
  synchronous: z
    .boolean()
    .default(false)
    .describe('Whether the answer to a write waits until this bucket has the version.'),
});
export type ReplicationTargetFields = z.output<typeof replicationTarget>;

const replicationRule = z.strictObject({
  target: targetName.describe('Name of a target of this bucket.'),
  prefix,
  tags,
  deleteMarkers: z.boolean().default(false).describe('Whether delete markers are replicated; not with tags.'),
  deletes: z.boolean().default(false).describe('Whether removals of versions are replicated.'),
  existingObjects: z.boolean().default(false).describe('Whether a resync sends what was there before the rule.'),
  storageClass: z
    .enum(replicaStorageClasses)
    .optional()
    .describe('Storage class of the copies; a Coffer or MinIO takes STANDARD and REDUCED_REDUNDANCY.'),
  replicaModifications: z.boolean().default(true).describe('Whether tags and locks that are set on replicas are sent.'),
});
export type ReplicationRuleFields = z.output<typeof replicationRule>;

export const replication = z
  .strictObject({
    targets: z
      .array(replicationTarget)
      .max(20)
      .default([])
      .describe('Buckets of other servers. One that is no longer named here is removed.')
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
    rules: z
      .array(replicationRule)
      .max(100)
      .default([])
      .describe('What is sent where. The first rule for a target that fits an object decides.')
      .meta({ 'x-kubernetes-list-type': 'atomic' }),
  })
  .optional()
  .describe(
    'Replication to other servers. Without this field it is left alone; one without rules removes them. It needs versioning: Enabled.',
  );

interface Fields {
  readonly versioning?: 'Enabled' | 'Suspended' | undefined;
  readonly lifecycle?: readonly LifecycleRuleFields[] | undefined;
  readonly replication?: z.output<typeof replication>;
}

const count = (...values: readonly unknown[]) => values.filter((value) => value !== undefined).length;
const celCount = (...fields: readonly string[]) => fields.map((field) => `(has(${field}) ? 1 : 0)`).join(' + ');
const actions = [
  'expiration',
  'noncurrentExpiration',
  'deleteMarkerDays',
  'abortUploadsDays',
  'transition',
  'noncurrentTransition',
] as const;

export const bucketFieldRules: readonly Rule<Fields>[] = [
  {
    field: 'spec.lifecycle',
    message: `a rule of lifecycle needs at least one of ${actions.join(', ')}`,
    cel: `!has(self.lifecycle) || self.lifecycle.all(r, ${actions.map((name) => `has(r.${name})`).join(' || ')})`,
    holds: ({ lifecycle: rules = [] }) => rules.every((rule) => actions.some((name) => rule[name] !== undefined)),
  },
  {
    field: 'spec.lifecycle',
    message: 'expiration of a rule of lifecycle needs exactly one of days, date, loneDeleteMarkers',
    cel: `!has(self.lifecycle) || self.lifecycle.all(r, !has(r.expiration) || ${celCount('r.expiration.days', 'r.expiration.date', 'r.expiration.loneDeleteMarkers')} == 1)`,
    holds: ({ lifecycle: rules = [] }) =>
      rules.every(({ expiration: e }) => e === undefined || count(e.days, e.date, e.loneDeleteMarkers) === 1),
  },
  {
    field: 'spec.lifecycle',
    message: 'transition of a rule of lifecycle needs exactly one of days, date',
    cel: '!has(self.lifecycle) || self.lifecycle.all(r, !has(r.transition) || has(r.transition.days) != has(r.transition.date))',
    holds: ({ lifecycle: rules = [] }) =>
      rules.every(({ transition: t }) => t === undefined || count(t.days, t.date) === 1),
  },
  {
    field: 'spec.lifecycle',
    message: 'noncurrentExpiration of a rule of lifecycle needs at least one of days, keep',
    cel: '!has(self.lifecycle) || self.lifecycle.all(r, !has(r.noncurrentExpiration) || has(r.noncurrentExpiration.days) || has(r.noncurrentExpiration.keep))',
    holds: ({ lifecycle: rules = [] }) =>
      rules.every(({ noncurrentExpiration: n }) => n === undefined || count(n.days, n.keep) > 0),
  },
  {
    field: 'spec.replication',
    message: 'a rule of replication names a target that is none of replication.targets',
    cel: '!has(self.replication) || self.replication.rules.all(r, self.replication.targets.exists(t, t.name == r.target))',
    holds: ({ replication: given }) =>
      (given?.rules ?? []).every(({ target }) => given?.targets.some(({ name }) => name === target) === true),
  },
  {
    field: 'spec.replication',
    message: 'a rule of replication with tags cannot have deleteMarkers: delete markers have no tags',
    cel: '!has(self.replication) || self.replication.rules.all(r, !has(r.tags) || !r.deleteMarkers)',
    holds: ({ replication: given }) =>
      (given?.rules ?? []).every(({ tags: has, deleteMarkers }) => has === undefined || !deleteMarkers),
  },
  {
    field: 'spec.versioning',
    message: 'replication.targets need versioning: Enabled',
    cel: "!has(self.replication) || self.replication.targets.size() == 0 || (has(self.versioning) && self.versioning == 'Enabled')",
    holds: ({ replication: given, versioning }) =>
      given === undefined || given.targets.length === 0 || versioning === 'Enabled',
  },
];
