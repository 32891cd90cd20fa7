import { z } from 'zod';
import { bucketNameError } from '../../../protocol/s3/names.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { Tiers } from '../../administration/services.ts';
import type { TierFields } from '../../../protocol/admin/tier.ts';
import { type AdminAnswer, type AdminCall, adminPath, json, type Route, sealedJsonBody } from '../call.ts';
import { azureFieldsOf, azureSchema } from './azure-fields.ts';
import { endpointOf, invalid } from './endpoint.ts';
import { googleFieldsOf, googleKeysOf, googleSchema } from './google-fields.ts';
import { adminError } from '../../administration/admin-error.ts';

/** The tiers to which lifecycle rules move bodies: the calls of `mc ilm tier` and `mc admin tier`. */
export const tierRoutes: readonly Route[] = [
  { method: 'PUT', path: adminPath('tier'), action: 'admin:SetTier', serve: addTier },
  { method: 'GET', path: adminPath('tier'), action: 'admin:ListTier', serve: listTiers },
  { method: 'GET', path: adminPath('tier-stats'), action: 'admin:ListTier', serve: tierStats },
  { method: 'POST', path: adminPath('tier/([^/]+)'), action: 'admin:SetTier', serve: editTier },
  { method: 'DELETE', path: adminPath('tier/([^/]+)'), action: 'admin:SetTier', serve: removeTier },
  { method: 'GET', path: adminPath('tier/([^/]+)'), action: 'admin:ListTier', serve: verifyTier },
];

const text = z.string().max(2_048).optional();

const placeSchema = z.strictObject({
  Endpoint: text,
  AccessKey: text,
  SecretKey: text,
  Bucket: text,
  Prefix: text,
  Region: text,
  StorageClass: text,
  AWSRole: z.boolean().optional(),
});

const tierSchema = z.strictObject({
  Version: z.string().max(16).optional(),
  Type: z.string().max(16),
  Name: z.string().max(255),
  S3: placeSchema.optional().nullable(),
  MinIO: placeSchema.optional().nullable(),
  Azure: azureSchema.optional().nullable(),
  GCS: googleSchema.optional().nullable(),
});

/** `mc ilm tier update` sends the keys of any kind of tier. */
const keysSchema = z.strictObject({
  access: text,
  secret: text,
  creds: z.string().max(65_536).optional().nullable(),
  awsrole: z.boolean().optional(),
  azSP: z.object({}).loose().optional(),
});

const done: AdminAnswer = { kind: 'none', status: 204 };

async function addTier(call: AdminCall): Promise<AdminAnswer> {
  const given = await sealedJsonBody(call, tierSchema);
  await tiersOf(call).add(fieldsOf(given), call.query.get('force') === 'true');
  return done;
}

function fieldsOf({ Type: type, Name: name, S3, MinIO, Azure, GCS }: z.infer<typeof tierSchema>): TierFields {
  switch (type) {
    case 'azure':
      return azureFieldsOf(name, Azure ?? undefined);
    case 'gcs':
      return googleFieldsOf(name, GCS ?? undefined);
    case 's3':
      return s3FieldsOf(name, type, S3 ?? undefined);
    case 'minio':
      return s3FieldsOf(name, type, MinIO ?? undefined);
    default:
      throw new S3Error(
        'XMinioAdminTierTypeUnsupported',
        `A tier of type ${type.slice(0, 16)} is not supported: use s3, minio, azure or gcs.`,
      );
  }
}

function s3FieldsOf(name: string, type: 's3' | 'minio', place: z.infer<typeof placeSchema> | undefined): TierFields {
  if (place === undefined) throw invalid(`The tier has no fields of its type ${type}.`);
  const { Endpoint = '', AccessKey = '', SecretKey = '', Bucket = '', Prefix = '', Region = '', AWSRole } = place;
  if (AWSRole === true) throw invalid('Roles of AWS are not supported: give an access key and a secret key.');
  if (AccessKey === '' || SecretKey === '') throw invalid('The tier has no access key and secret key.');
  const issue = bucketNameError(Bucket);
  if (issue !== undefined) throw invalid(`The bucket ${Bucket.slice(0, 64)} ${issue}.`);
  if (Prefix.length > 512) throw invalid('The prefix has more than 512 characters.');
  return {
    name,
    type,
    endpoint: endpointOf(Endpoint === '' && type === 's3' ? 'https://s3.amazonaws.com' : Endpoint),
    region: Region,
    bucket: Bucket,
    prefix: Prefix.replaceAll(/^\/+|\/+$/g, ''),
    storageClass: place.StorageClass ?? '',
    accessKey: AccessKey,
    secretKey: SecretKey,
  };
}

async function editTier(call: AdminCall): Promise<AdminAnswer> {
  const { access = '', secret = '', creds, awsrole } = await sealedJsonBody(call, keysSchema);
  if (typeof creds === 'string' && creds !== '' && secret === '') {
    await tiersOf(call).edit(nameOf(call), googleKeysOf(creds));
    return done;
  }
  if (awsrole === true || secret === '') {
    throw invalid('Give an access key and a secret key: only they can be changed.');
  }
  // Clients send no access key for a tier of Azure, which has the name of the account.
  await tiersOf(call).edit(nameOf(call), { ...(access !== '' && { accessKey: access }), secretKey: secret });
  return done;
}

async function removeTier(call: AdminCall): Promise<AdminAnswer> {
  await tiersOf(call).remove(nameOf(call), call.query.get('force') === 'true');
  return done;
}

async function verifyTier(call: AdminCall): Promise<AdminAnswer> {
  await tiersOf(call).verify(nameOf(call));
  return done;
}

async function listTiers(call: AdminCall): Promise<AdminAnswer> {
  const tiers = await tiersOf(call).list();
  return json(tiers.map(shownTier));
}

const fieldNames = { s3: 'S3', minio: 'MinIO', azure: 'Azure', gcs: 'GCS' } as const;

function shownKeys({ type, accessKey }: Pick<TierFields, 'type' | 'accessKey'>): object {
  switch (type) {
    case 'azure':
      return { AccountName: accessKey, AccountKey: 'REDACTED' };
    case 'gcs':
      return { Creds: 'REDACTED' };
    case 's3':
    case 'minio':
      return { AccessKey: accessKey, SecretKey: 'REDACTED' };
  }
}

function shownTier({ type, name, ...tier }: Omit<TierFields, 'secretKey'>): object {
  return {
    Version: 'v1',
    Type: type,
    Name: name,
    [fieldNames[type]]: {
      Endpoint: tier.endpoint,
      ...shownKeys({ type, accessKey: tier.accessKey }),
      Bucket: tier.bucket,
      ...(tier.prefix !== '' && { Prefix: tier.prefix }),
      ...(tier.region !== '' && { Region: tier.region }),
      ...(tier.storageClass !== '' && { StorageClass: tier.storageClass }),
    },
  };
}

/** The numbers of the last count of the usage. */
async function tierStats(call: AdminCall): Promise<AdminAnswer> {
  const [tiers, usage] = await Promise.all([tiersOf(call).list(), call.services.usage?.last()]);
  const none = { objects: 0, versions: 0, bytes: 0 };
  const counted = usage?.tiers ?? {};
  const inTiers = Object.values(counted).reduce(
    (sum, { objects, versions, bytes }) => ({
      objects: sum.objects + objects,
      versions: sum.versions + versions,
      bytes: sum.bytes + bytes,
    }),
    none,
  );
  const all = usage && {
    objects: usage.objects,
    versions: Math.max(usage.objects, usage.versions),
    bytes: usage.bytes,
  };
  const here = {
    objects: (all?.objects ?? 0) - inTiers.objects,
    versions: (all?.versions ?? 0) - inTiers.versions,
    bytes: (all?.bytes ?? 0) - inTiers.bytes,
  };
  return json([
    statsOf('STANDARD', 'internal', here),
    ...tiers.map(({ name, type }) => statsOf(name, type, counted[name] ?? none)),
  ]);
}

function statsOf(
  Name: string,
  Type: string,
  { objects, versions, bytes }: { readonly objects: number; readonly versions: number; readonly bytes: number },
) {
  return {
    Name,
    Type,
    Stats: { totalSize: bytes, numVersions: versions, numObjects: objects },
    DailyStats: { Bins: [], UpdatedAt: new Date(0).toISOString() },
  };
}

function nameOf({ parts: [name = ''] }: AdminCall): string {
  return name;
}

function tiersOf({ services: { tiers } }: AdminCall): Tiers {
  if (tiers !== undefined) return tiers;
  throw adminError('XCofferRefused', 'This server has no tiers.');
}
