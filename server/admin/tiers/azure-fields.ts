import { z } from 'zod';
import type { TierFields } from '../../../protocol/admin/tier.ts';
import { endpointOf, invalid } from './endpoint.ts';

const text = z.string().max(2_048).optional();

/** The fields of a tier of Azure, as `mc ilm tier add azure` sends them. */
export const azureSchema = z.strictObject({
  Endpoint: text,
  AccountName: text,
  AccountKey: text,
  Bucket: text,
  Prefix: text,
  Region: text,
  StorageClass: text,
  SPAuth: z.strictObject({ TenantID: text, ClientID: text, ClientSecret: text }).optional(),
});

/** The access tiers of Azure from which a blob can be read at once. */
const accessTiers: readonly string[] = ['Hot', 'Cool', 'Cold'];

/** Throws `XMinioAdminTierInvalidConfig`. */
export function azureFieldsOf(name: string, place: z.infer<typeof azureSchema> | undefined): TierFields {
  if (place === undefined) throw invalid('The tier has no fields of its type azure.');
  const { Endpoint = '', AccountName = '', AccountKey = '', Bucket = '', Prefix = '', StorageClass = '' } = place;
  if (Object.values(place.SPAuth ?? {}).some((value) => value !== '')) {
    throw invalid('Service principals of Azure are not supported: give the name and the key of the account.');
  }
  if (!/^[a-z0-9]{3,24}$/.test(AccountName))
    throw invalid('The account has a name of 3 to 24 small letters and digits.');
  if (AccountKey === '') throw invalid('The tier has no account key.');
  if (!/^(?!.*--)[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(Bucket)) {
    throw invalid(`A container cannot have the name ${Bucket.slice(0, 64)}.`);
  }
  if (Prefix.length > 512) throw invalid('The prefix has more than 512 characters.');
  if (StorageClass !== '' && !accessTiers.includes(StorageClass)) {
    throw invalid(`The access tier is one of ${accessTiers.join(', ')}: from others nothing can be read at once.`);
  }
  return {
    name,
    type: 'azure',
    endpoint: azureEndpointOf(Endpoint === '' ? `https://${AccountName}.blob.core.windows.net` : Endpoint),
    region: place.Region ?? '',
    bucket: Bucket,
    prefix: Prefix.replaceAll(/^\/+|\/+$/g, ''),
    storageClass: StorageClass,
    accessKey: AccountName,
    secretKey: AccountKey,
  };
}

/** The account may be the path, as an emulator has it. */
function azureEndpointOf(endpoint: string): string {
  const [, origin, account = ''] = /^(https?:\/\/[^/]+)(\/[a-z0-9]{3,24})?\/?$/.exec(endpoint) ?? [];
  if (origin === undefined) throw invalid('The endpoint must be https://HOST[:PORT] or https://HOST[:PORT]/ACCOUNT.');
  return `${endpointOf(origin)}${account}`;
}
