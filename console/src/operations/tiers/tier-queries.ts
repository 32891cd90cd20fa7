import { useQuery } from '@tanstack/react-query';
import { admin } from '../../api/admin.ts';
import { useApiMutation } from '../../api/queries.ts';

export type TierKind = 's3' | 'minio' | 'azure' | 'gcs';

interface TierPlace {
  readonly Endpoint: string;
  readonly AccessKey?: string;
  readonly AccountName?: string;
  readonly Bucket: string;
  readonly Prefix?: string;
  readonly Region?: string;
  readonly StorageClass?: string;
}

/** A tier, as the admin API lists it. */
interface ListedTier {
  readonly Type: TierKind;
  readonly Name: string;
  readonly S3?: TierPlace;
  readonly MinIO?: TierPlace;
  readonly Azure?: TierPlace;
  readonly GCS?: TierPlace;
}

interface TierStats {
  readonly Name: string;
  readonly Stats: { readonly totalSize: number; readonly numVersions: number; readonly numObjects: number };
}

export interface Tier {
  readonly name: string;
  readonly kind: TierKind;
  readonly endpoint: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly region: string;
  readonly storageClass: string;
  readonly accessKey: string;
  /** The sums of the tier, by the last count. */
  readonly stored: TierStats['Stats'];
}

export interface NewTier extends Omit<Tier, 'stored'> {
  /** The key of an account of Azure; the text of the key file of a service account of Google. */
  readonly secretKey: string;
  /** Take a bucket that is not empty. */
  readonly force: boolean;
}

const empty = { totalSize: 0, numVersions: 0, numObjects: 0 };

export function useTiers(enabled = true) {
  return useQuery({
    enabled,
    queryKey: ['tiers'],
    queryFn: async (): Promise<readonly Tier[]> => {
      const [listed, stats] = await Promise.all([
        admin<readonly ListedTier[]>('GET', 'tier'),
        admin<readonly TierStats[]>('GET', 'tier-stats'),
      ]);
      return listed.map((tier) => tierOf(tier, stats));
    },
  });
}

function tierOf({ Name: name, Type: kind, S3, MinIO, Azure, GCS }: ListedTier, stats: readonly TierStats[]): Tier {
  const place = S3 ?? MinIO ?? Azure ?? GCS;
  return {
    name,
    kind,
    endpoint: place?.Endpoint ?? '',
    bucket: place?.Bucket ?? '',
    prefix: place?.Prefix ?? '',
    region: place?.Region ?? '',
    storageClass: place?.StorageClass ?? '',
    accessKey: place?.AccessKey ?? place?.AccountName ?? '',
    stored: stats.find(({ Name }) => Name === name)?.Stats ?? empty,
  };
}

export function useAddTier() {
  return useApiMutation(
    ({ name, kind, force, ...tier }: NewTier) => {
      const place = {
        Endpoint: tier.endpoint,
        Bucket: tier.bucket,
        Prefix: tier.prefix,
        Region: tier.region,
        StorageClass: tier.storageClass,
        ...keysOf(kind, tier),
      };
      const body = JSON.stringify({ Version: 'v1', Type: kind, Name: name, [fieldNames[kind]]: place });
      return admin('PUT', 'tier', { query: { force: force ? 'true' : undefined }, body });
    },
    ['tiers'],
  );
}

const fieldNames = { s3: 'S3', minio: 'MinIO', azure: 'Azure', gcs: 'GCS' } as const;

function keysOf(kind: TierKind, { accessKey, secretKey }: Pick<NewTier, 'accessKey' | 'secretKey'>): object {
  if (kind === 'gcs') return { Creds: base64Of(secretKey) };
  if (kind === 'azure') return { AccountName: accessKey, AccountKey: secretKey };
  return { AccessKey: accessKey, SecretKey: secretKey };
}

function base64Of(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
}

export function useEditTier() {
  return useApiMutation(
    ({
      name,
      kind,
      accessKey,
      secretKey,
    }: {
      readonly name: string;
      readonly kind: TierKind;
      readonly accessKey: string;
      readonly secretKey: string;
    }) => {
      const keys = kind === 'gcs' ? { creds: base64Of(secretKey) } : { access: accessKey, secret: secretKey };
      return admin('POST', `tier/${name}`, { body: JSON.stringify(keys) });
    },
    ['tiers'],
  );
}

export function useCheckTier() {
  return useApiMutation((name: string) => admin('GET', `tier/${name}`), []);
}

export function useRemoveTier() {
  return useApiMutation((name: string) => admin('DELETE', `tier/${name}`), ['tiers']);
}
