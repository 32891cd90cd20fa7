import { z } from 'zod';
import type { TierFields } from '../../../protocol/admin/tier.ts';
import { endpointOf, invalid } from './endpoint.ts';

const text = z.string().max(2_048).optional();

/** The fields of a tier of Google Cloud Storage, as `mc ilm tier add gcs` sends them. `Creds` is the file of a key in Base64. */
export const googleSchema = z.strictObject({
  Endpoint: text,
  Creds: z.string().max(65_536).optional(),
  Bucket: text,
  Prefix: text,
  Region: text,
  StorageClass: text,
});

/** All classes of Google are read at once. */
const storageClasses: readonly string[] = ['STANDARD', 'NEARLINE', 'COLDLINE', 'ARCHIVE'];

/** Throws `XMinioAdminTierInvalidConfig`. */
export function googleFieldsOf(name: string, place: z.infer<typeof googleSchema> | undefined): TierFields {
  if (place === undefined) throw invalid('The tier has no fields of its type gcs.');
  const { Endpoint = '', Creds = '', Bucket = '', Prefix = '', Region = '', StorageClass = '' } = place;
  if (!/^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/.test(Bucket))
    throw invalid(`A bucket of Google cannot have the name ${Bucket.slice(0, 64)}.`);
  if (Prefix.length > 512) throw invalid('The prefix has more than 512 characters.');
  if (StorageClass !== '' && !storageClasses.includes(StorageClass))
    throw invalid(`The storage class is one of ${storageClasses.join(', ')}.`);
  return {
    name,
    type: 'gcs',
    endpoint: endpointOf(Endpoint === '' ? 'https://storage.googleapis.com' : Endpoint),
    region: Region,
    bucket: Bucket,
    prefix: Prefix.replaceAll(/^\/+|\/+$/g, ''),
    storageClass: StorageClass,
    ...googleKeysOf(Creds),
  };
}

const keyFile = z.object({
  type: z.literal('service_account'),
  client_email: z.string().min(3).max(254),
  private_key: z.string().min(1),
});

/** Reads the address of the account in the file of its key. Throws `XMinioAdminTierInvalidConfig`; no text has the key. */
export function googleKeysOf(creds: string): { readonly accessKey: string; readonly secretKey: string } {
  const secretKey = Buffer.from(creds, 'base64').toString('utf8').trim();
  try {
    return { accessKey: keyFile.parse(JSON.parse(secretKey)).client_email, secretKey };
  } catch {
    throw invalid('The credentials are no file of a key of a service account of Google, in JSON.');
  }
}
