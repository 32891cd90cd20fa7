import { z } from 'zod';
import { ResourceError } from '../../api/resource-error.ts';
import type { Secret } from '../../contract/secret.ts';
import type { TierSpec } from '../../api/tenant/tier-fields.ts';
import { secretValue } from '../../render/render-context.ts';
import type { AddedTier } from '../conditions.ts';
import { callAdmin, unless } from '../managed/admin-request.ts';
import type { TenantAccess } from '../managed/controller.ts';
import { endpointOf, type TenantEndpoint } from '../managed/signed-request.ts';

/** The input of a reconcile of tiers, and the callback for its changes. */
interface TierContext {
  readonly access: TenantAccess;
  readonly secrets: ReadonlyMap<string, Secret>;
  readonly fingerprint: (value: string) => string;
  /** The tiers that the resource added so far. */
  readonly added: readonly AddedTier[];
  /** Called with the changes that were made, for an event. */
  readonly onChanged: (differences: readonly string[]) => void;
}

interface TierResult {
  readonly added: readonly AddedTier[];
  /** The first failure, and the step that failed. */
  readonly failure?: { readonly error: unknown; readonly doing: string };
}

/** Makes the tiers of a tenant's server those of its resource. */
export type TierController = (wanted: readonly TierSpec[], context: TierContext) => Promise<TierResult>;

const place = z.object({
  Endpoint: z.string().default(''),
  Bucket: z.string().default(''),
  Prefix: z.string().default(''),
  AccessKey: z.string().optional(),
  AccountName: z.string().optional(),
});
const foundTiers = z.array(
  z
    .object({
      Name: z.string(),
      Type: z.string(),
      S3: place.optional(),
      MinIO: place.optional(),
      Azure: place.optional(),
      GCS: place.optional(),
    })
    .transform(({ Name: name, Type: type, S3, MinIO, Azure, GCS }) => ({
      name,
      type,
      place: S3 ?? MinIO ?? Azure ?? GCS,
    })),
);
type FoundTier = z.output<typeof foundTiers>[number];

interface TierChange {
  readonly difference: string;
  readonly tier: string;
  /** Returns the record of the tier; undefined where it was removed. */
  make(): Promise<AddedTier | undefined>;
}

/** Tiers that others added stay, and so does one that is no longer named while something is in it. */
export function createTierController(now: () => Date = () => new Date()): TierController {
  return async (wanted, context) => {
    const added = new Map(context.added.map((tier) => [tier.name, tier]));
    const made: string[] = [];
    let failure: TierResult['failure'];
    try {
      const endpoint = endpointOf(context.access);
      const listed = await callAdmin(endpoint, { method: 'GET', path: 'v3/tier' }, now);
      const found = new Map(foundTiers.parse(listed ?? []).map((tier) => [tier.name, tier]));
      const steps = [
        ...wanted.map(
          (tier, at) =>
            [
              `the tier ${tier.name} cannot be set`,
              () => changeOf(tier, at, found.get(tier.name), context, { endpoint, now }),
            ] as const,
        ),
        ...context.added
          .filter(({ name }) => wanted.every((tier) => tier.name !== name))
          .map(({ name }) => [`the tier ${name} cannot be removed`, () => removalOf(name, { endpoint, now })] as const),
      ];
      // Tiers do not depend on each other.
      for (const [doing, step] of steps) {
        try {
          const change = step();
          if (change === undefined) continue;
          const record = await change.make();
          if (record === undefined) added.delete(change.tier);
          else added.set(change.tier, record);
          made.push(change.difference);
        } catch (error) {
          failure ??= { error, doing };
        }
      }
    } catch (error) {
      failure = { error, doing: 'its tiers cannot be read' };
    }
    if (made.length > 0) context.onChanged(made);
    return { added: [...added.values()], ...(failure && { failure }) };
  };
}

interface Connection {
  readonly endpoint: TenantEndpoint;
  readonly now: () => Date;
}

function changeOf(
  tier: TierSpec,
  at: number,
  found: FoundTier | undefined,
  { secrets, fingerprint, added }: TierContext,
  { endpoint, now }: Connection,
): TierChange | undefined {
  const { name } = tier;
  const field = `spec.tiers[${at}].credentialsSecret`;
  const [accessKey, secretKey] = keyNames(tier).map((key) =>
    key === '' ? '' : secretValue(secrets, { name: tier.credentialsSecret.name, key }, field, 'tier'),
  ) as [string, string];
  const record = { name, credentials: fingerprint(`${accessKey}\n${secretKey}`) };
  if (found === undefined) {
    return {
      tier: name,
      difference: `there is no tier ${name}`,
      make: async () => {
        const body = bodyOf(tier, { accessKey, secretKey });
        // A tier that was removed by hand comes back with what is in it.
        const query = { force: String(added.some((other) => other.name === name)) };
        await callAdmin(endpoint, { method: 'PUT', path: 'v3/tier', query, body, sealed: 'body' }, now);
        return record;
      },
    };
  }
  checkPlace(tier, found, accessKey);
  const known = added.find((other) => other.name === name);
  // A tier of Google shows nothing of its key.
  const sameAccount = tier.type === 'gcs' || (found.place?.AccessKey ?? found.place?.AccountName) === accessKey;
  if (known?.credentials === record.credentials && sameAccount) return undefined;
  return {
    tier: name,
    difference: `the credentials of the tier ${name} differ`,
    make: async () => {
      const body = tier.type === 'gcs' ? { creds: base64(secretKey) } : { access: accessKey, secret: secretKey };
      await callAdmin(endpoint, { method: 'POST', path: `v3/tier/${name}`, body, sealed: 'body' }, now);
      return record;
    },
  };
}

/** The keys of the Secret: of the account, and of what proves it. The file of a key of Google has both. */
function keyNames({ type }: TierSpec): readonly [string, string] {
  if (type === 'gcs') return ['', 'key.json'];
  return type === 'azure' ? ['accountName', 'accountKey'] : ['accessKey', 'secretKey'];
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

const fieldNames = { s3: 'S3', minio: 'MinIO', azure: 'Azure', gcs: 'GCS' } as const;

function bodyOf(tier: TierSpec, { accessKey, secretKey }: { readonly accessKey: string; readonly secretKey: string }) {
  const keys = {
    s3: { AccessKey: accessKey, SecretKey: secretKey },
    minio: { AccessKey: accessKey, SecretKey: secretKey },
    azure: { AccountName: accessKey, AccountKey: secretKey },
    gcs: { Creds: base64(secretKey) },
  }[tier.type];
  return {
    Version: 'v1',
    Type: tier.type,
    Name: tier.name,
    [fieldNames[tier.type]]: {
      Endpoint: endpointOfTier(tier, accessKey),
      ...keys,
      Bucket: tier.bucket,
      Prefix: tier.prefix ?? '',
      Region: tier.region ?? '',
      StorageClass: tier.storageClass ?? '',
    },
  };
}

function endpointOfTier({ type, endpoint }: TierSpec, accessKey: string): string {
  if (endpoint !== undefined) return new URL(endpoint).origin;
  if (type === 'gcs') return 'https://storage.googleapis.com';
  return type === 'azure' ? `https://${accessKey}.blob.core.windows.net` : 'https://s3.amazonaws.com';
}

/** Errors with `ResourceError` where the tier of this name is elsewhere: its objects cannot be moved by a change of its address. */
function checkPlace(tier: TierSpec, { type, place: there }: FoundTier, accessKey: string): void {
  const prefix = (tier.prefix ?? '').replaceAll(/^\/+|\/+$/g, '');
  const same =
    type === tier.type &&
    there?.Endpoint === endpointOfTier(tier, accessKey) &&
    there.Bucket === tier.bucket &&
    there.Prefix === prefix;
  if (same) return;
  throw new ResourceError(
    'TierDiffers',
    `the tenant has a tier ${tier.name} of type ${type} at ${there?.Endpoint ?? 'another place'}, bucket ${there?.Bucket ?? 'unknown'}, ` +
      `which differs from spec.tiers: give this one another name, or remove the other (mc ilm tier rm)`,
  );
}

function removalOf(name: string, { endpoint, now }: Connection): TierChange {
  return {
    tier: name,
    difference: `the tier ${name} is no longer named`,
    make: async () => {
      const call = { method: 'DELETE', path: `v3/tier/${name}` } as const;
      await unless(['XMinioAdminTierNotFound'], callAdmin(endpoint, call, now));
      return undefined;
    },
  };
}
