import { readFile } from 'node:fs/promises';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { printable } from '../../../platform/text/printable.ts';
import { adminOf, pathPart } from '../admin-client.ts';
import type { Context } from '../context.ts';

/** The flags of `ilm tier add` and `ilm tier update`. */
interface TierOptions {
  readonly endpoint?: string;
  readonly region?: string;
  readonly bucket?: string;
  readonly prefix?: string;
  readonly storageClass?: string;
  readonly accessKey?: string;
  readonly secretKey?: string;
  readonly useAwsRole?: boolean;
  readonly awsRoleArn?: string;
  readonly awsWebIdentityFile?: string;
  readonly accountName?: string;
  readonly accountKey?: string;
  readonly azSpTenantId?: string;
  readonly azSpClientId?: string;
  readonly azSpClientSecret?: string;
  /** A file of Google Cloud Storage. */
  readonly credentialsFile?: string;
  readonly force?: boolean;
  readonly dangerous?: boolean;
}

/** The fields of one kind of tier, with the names of the admin API. */
type TierFields = Readonly<Record<string, unknown>>;

interface TierConfig {
  readonly Version: 'v1';
  readonly Type: string;
  readonly Name: string;
  readonly S3?: TierFields;
  readonly Azure?: TierFields;
  readonly GCS?: TierFields;
  readonly MinIO?: TierFields;
}

const kinds = { minio: 'MinIO', s3: 'S3', azure: 'Azure', gcs: 'GCS' } as const;

export async function addTier(context: Context, args: readonly string[], options: TierOptions): Promise<void> {
  const [kind = '', alias = '', name = ''] = args;
  const admin = await adminOf(context, alias);
  const config = await configOf(kind, name.toUpperCase(), options);
  const query = { force: String(options.force === true) };
  await admin.send({ method: 'PUT', call: 'tier', query, body: config, encrypted: true });
  const fields = fieldsOf(config);
  const endpoint = fields['Endpoint'] ?? (kind === 'gcs' ? 'https://storage.googleapis.com/' : '');
  context.output.message(`Added remote tier ${config.Name} of type ${kind}`, {
    tierName: config.Name,
    tierType: kind,
    tierEndpoint: endpoint,
    bucket: fields['Bucket'],
    ...(options.prefix && { prefix: options.prefix }),
    ...(options.region && { region: options.region }),
    ...(kind === 's3' && { tierParams: { storageClass: options.storageClass ?? '' } }),
  });
}

/** Replaces the keys of a tier. */
export async function updateTier(context: Context, args: readonly string[], options: TierOptions): Promise<void> {
  const [alias = '', name = ''] = args;
  const admin = await adminOf(context, alias);
  const body = await credentialsOf(options);
  await admin.send({ method: 'POST', call: `tier/${pathPart(name)}`, body, encrypted: true });
  context.output.message(`Updated remote tier ${name}`, tierMessage(name));
}

export async function listTiers(context: Context, [alias = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const tiers = await admin.json<readonly TierConfig[]>({ method: 'GET', call: 'tier' });
  if (!Array.isArray(tiers) || tiers.length === 0) {
    context.output.hint(`${alias} has no remote tiers; \`coffer ilm tier add\` adds one`);
    return;
  }
  const rows = tiers.map((tier) => {
    const { Endpoint = '', Bucket = '', Prefix = '', Region = '' } = fieldsOf(tier);
    return [tier.Name, tier.Type, String(Endpoint), String(Bucket), String(Prefix), String(Region)];
  });
  context.output.message(context.output.table(['Name', 'Type', 'Endpoint', 'Bucket', 'Prefix', 'Region'], rows), {
    tiers,
  });
}

interface TierStats {
  readonly Name: string;
  readonly Type: string;
  readonly Stats: { readonly totalSize?: number; readonly numObjects?: number; readonly numVersions?: number };
}

export async function tierInfo(context: Context, [alias = '', name]: readonly string[]): Promise<void> {
  if (name !== undefined && context.output.json) {
    throw new ProgramError('BadArgument', 'With --json all tiers are shown: leave out the name');
  }
  const admin = await adminOf(context, alias);
  const tiers = (await admin.json<readonly TierStats[] | null>({ method: 'GET', call: 'tier-stats' })) ?? [];
  if (name !== undefined && !tiers.some((tier) => tier.Name === name)) {
    throw new ProgramError(
      'NotFound',
      `Remote tier ${name} does not exist: \`coffer ilm tier list ${alias}\` lists them`,
    );
  }
  const rows = tiers
    .filter((tier) => name === undefined || tier.Name === name)
    .map(({ Name, Type, Stats }) =>
      [Name, Type, Stats.totalSize ?? 0, Stats.numObjects ?? 0, Stats.numVersions ?? 0].map(String),
    );
  context.output.message(context.output.table(['Name', 'Type', 'Bytes', 'Objects', 'Versions'], rows), {
    ...(tiers.length > 0 && { tiers }),
  });
}

export async function removeTier(
  context: Context,
  [alias = '', name = '']: readonly string[],
  { force = false, dangerous = false }: TierOptions,
): Promise<void> {
  if (force && !dangerous) {
    throw new ProgramError(
      'Unsafe',
      'Objects of a tier that is removed by force cannot be read any more: add --dangerous if you are sure',
    );
  }
  const admin = await adminOf(context, alias);
  await admin.send({ method: 'DELETE', call: `tier/${pathPart(name)}`, query: { force: String(force) } });
  context.output.message(`Removed remote tier ${printable(name)}`, tierMessage(name));
}

/** Has the server try to reach a tier. */
export async function checkTier(context: Context, [alias = '', name = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  await admin.send({ method: 'GET', call: `tier/${pathPart(name)}` });
  context.output.message(`Remote tier connectivity check for ${printable(name)} was successful`, tierMessage(name));
}

function tierMessage(name: string): TierFields {
  return { tierName: name, tierType: '', tierEndpoint: '', bucket: '' };
}

function fieldsOf({ S3, Azure, GCS, MinIO }: TierConfig): TierFields {
  return S3 ?? Azure ?? GCS ?? MinIO ?? {};
}

async function configOf(kind: string, name: string, options: TierOptions): Promise<TierConfig> {
  if (!Object.hasOwn(kinds, kind)) {
    throw new ProgramError(
      'BadArgument',
      `Unknown kind of tier \`${kind}\`: there are ${Object.keys(kinds).join(', ')}`,
    );
  }
  if (name === '') throw new ProgramError('BadArgument', 'A tier needs a name');
  const place = { Bucket: options.bucket, Prefix: options.prefix, Region: options.region };
  const fields = { ...place, ...(await accessOf(kind as keyof typeof kinds, options)) };
  if (!options.bucket) throw new ProgramError('BadArgument', `A tier of the kind ${kind} needs --bucket`);
  return { Version: 'v1', Type: kind, Name: name, [kinds[kind as keyof typeof kinds]]: fields };
}

async function accessOf(kind: keyof typeof kinds, options: TierOptions): Promise<TierFields> {
  switch (kind) {
    case 'minio': {
      const { accessKey, secretKey, endpoint } = options;
      if (!accessKey || !secretKey)
        throw new ProgramError('BadArgument', 'A tier of the kind minio needs --access-key and --secret-key');
      if (!endpoint) throw new ProgramError('BadArgument', 'A tier of the kind minio needs --endpoint');
      return { Endpoint: endpoint, AccessKey: accessKey, SecretKey: secretKey };
    }
    case 's3':
      return s3Access(options);
    case 'azure': {
      const { accountName, accountKey } = options;
      if (!accountName) throw new ProgramError('BadArgument', 'A tier of the kind azure needs --account-name');
      const principal = principalOf(options);
      if (!accountKey && Object.values(principal).some((value) => !value)) {
        throw new ProgramError(
          'BadArgument',
          'A tier of the kind azure needs --account-key, or --az-sp-tenant-id, --az-sp-client-id and --az-sp-client-secret',
        );
      }
      const endpoint = options.endpoint ?? `https://${accountName}.blob.core.windows.net`;
      return { Endpoint: endpoint, AccountName: accountName, AccountKey: accountKey, SPAuth: principal };
    }
    case 'gcs':
      return {
        Endpoint: options.endpoint ?? 'https://storage.googleapis.com/',
        ...(options.storageClass && { StorageClass: options.storageClass }),
        Creds: (await credentialsFileOf(options)).toString('base64'),
      };
    default:
      return kind satisfies never;
  }
}

const storageClasses = ['STANDARD', 'REDUCED_REDUNDANCY', 'STANDARD_IA'];

function s3Access(options: TierOptions): TierFields {
  const { accessKey, secretKey, useAwsRole = false, awsRoleArn, awsWebIdentityFile, storageClass } = options;
  const hasKeys = accessKey !== undefined || secretKey !== undefined;
  const hasIdentity = awsRoleArn !== undefined || awsWebIdentityFile !== undefined;
  if ([hasKeys, useAwsRole, hasIdentity].filter(Boolean).length !== 1) {
    throw badS3(
      'needs one of --access-key with --secret-key, --use-aws-role, and --aws-role-arn with --aws-web-identity-file',
    );
  }
  if (hasKeys && (!accessKey || !secretKey)) throw badS3('needs both --access-key and --secret-key');
  if (hasIdentity && (!awsRoleArn || !awsWebIdentityFile)) {
    throw badS3('needs both --aws-role-arn and --aws-web-identity-file');
  }
  if (storageClass !== undefined && !storageClasses.includes(storageClass)) {
    throw badS3(`has one of the storage classes ${storageClasses.join(', ')}, not \`${storageClass}\``);
  }
  return {
    Endpoint: options.endpoint ?? 'https://s3.amazonaws.com',
    AccessKey: accessKey,
    SecretKey: secretKey,
    StorageClass: storageClass,
    AWSRole: useAwsRole || undefined,
    AWSRoleARN: awsRoleArn,
    AWSRoleWebIdentityTokenFile: awsWebIdentityFile,
  };
}

function badS3(why: string): ProgramError {
  return new ProgramError('BadArgument', `A tier of the kind s3 ${why}`);
}

async function credentialsOf(options: TierOptions): Promise<TierFields> {
  const { accessKey, secretKey, accountKey, useAwsRole = false } = options;
  if (accessKey && secretKey && !useAwsRole) return { access: accessKey, secret: secretKey, awsrole: false };
  if (useAwsRole) return { awsrole: true };
  if (accountKey) return { secret: accountKey, awsrole: false };
  const principal = principalOf(options);
  if (Object.values(principal).some((value) => value !== undefined)) return { awsrole: false, azSP: principal };
  if (options.credentialsFile === undefined) {
    throw new ProgramError(
      'BadArgument',
      'Give the new keys: --access-key and --secret-key, --use-aws-role, --account-key, --az-sp-… or --credentials-file',
    );
  }
  return { awsrole: false, creds: (await credentialsFileOf(options)).toString('base64') };
}

function principalOf({ azSpTenantId, azSpClientId, azSpClientSecret }: TierOptions): TierFields {
  return { TenantID: azSpTenantId, ClientID: azSpClientId, ClientSecret: azSpClientSecret };
}

async function credentialsFileOf({ credentialsFile }: TierOptions): Promise<Buffer> {
  if (credentialsFile === undefined)
    throw new ProgramError('BadArgument', 'A tier of the kind gcs needs --credentials-file');
  return readFile(credentialsFile);
}
