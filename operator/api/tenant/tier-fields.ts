import { z } from 'zod';
import { secretRef } from '../fields.ts';
import type { Rule, TransitionRule } from '../rule.ts';

const tier = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(64)
    .regex(/^[A-Z0-9][A-Z0-9._-]*$/)
    .describe('Name in lifecycle rules, in capital letters. It is the storage class of what is there.'),
  type: z
    .enum(['s3', 'minio', 'azure', 'gcs'])
    .describe('s3: AWS or another S3. minio: MinIO or Coffer. azure: Azure Blob Storage. gcs: Google Cloud Storage.'),
  endpoint: z
    .string()
    .max(270)
    .regex(/^https?:\/\/([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$/)
    .optional()
    .describe(
      'Address, https://HOST or https://HOST:PORT; that of AWS, of the account of Azure or of Google without it.',
    ),
  bucket: z.string().min(3).max(63).describe('Its bucket, or container.'),
  prefix: z
    .string()
    .max(512)
    .optional()
    .describe('What the keys in it begin with. It is empty when the tier is added.'),
  region: z.string().min(1).max(64).optional().describe('Its region.'),
  storageClass: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe(
      'Storage class of what is written there; Hot, Cool or Cold at Azure; NEARLINE, COLDLINE or ARCHIVE at Google.',
    ),
  credentialsSecret: secretRef.describe(
    'Secret with the keys accessKey and secretKey; at Azure with accountName and accountKey; at Google with key.json, the file of a key of a service account.',
  ),
});
export type TierSpec = z.output<typeof tier>;

export const tiers = z
  .array(tier)
  .max(32)
  .optional()
  .describe(
    'Buckets of other servers to which lifecycle rules move objects. One that is no longer named here is removed once nothing is in it.',
  )
  .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] });

interface Fields {
  readonly tiers?: readonly TierSpec[] | undefined;
}

export const tierRules: readonly Rule<Fields>[] = [
  {
    field: 'spec.tiers',
    message: 'a tier of the type minio needs an endpoint',
    cel: "!has(self.tiers) || self.tiers.all(t, has(t.endpoint) || t.type != 'minio')",
    holds: ({ tiers: given = [] }) => given.every(({ endpoint, type }) => endpoint !== undefined || type !== 'minio'),
  },
  {
    field: 'spec.tiers',
    message:
      'STANDARD, REDUCED_REDUNDANCY and RRS are no names of tiers: they are storage classes of the server itself',
    cel: "!has(self.tiers) || self.tiers.all(t, !(t.name in ['STANDARD', 'REDUCED_REDUNDANCY', 'RRS']))",
    holds: ({ tiers: given = [] }) =>
      given.every(({ name }) => !['STANDARD', 'REDUCED_REDUNDANCY', 'RRS'].includes(name)),
  },
];

/** The fields that say where a tier is. What is in it would stay behind. */
const place = ['type', 'endpoint', 'bucket', 'prefix'] as const;

const celSamePlace = place
  .map((field) =>
    field === 'type' || field === 'bucket'
      ? `t.${field} == o.${field}`
      : `has(t.${field}) == has(o.${field}) && (!has(t.${field}) || t.${field} == o.${field})`,
  )
  .join(' && ');

export const tierTransitions: readonly TransitionRule<Fields>[] = [
  {
    field: 'spec.tiers',
    message: 'type, endpoint, bucket and prefix of a tier may not change: what is in it would stay behind',
    cel: `!has(self.tiers) || !has(oldSelf.tiers) || self.tiers.all(t, oldSelf.tiers.all(o, t.name != o.name || (${celSamePlace})))`,
    holds: ({ tiers: now = [] }, { tiers: before = [] }) =>
      now.every((tierNow) =>
        before.every((old) => old.name !== tierNow.name || place.every((field) => old[field] === tierNow[field])),
      ),
  },
];
