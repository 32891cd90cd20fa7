import type { CustomerKey } from '../encryption/customer-key.ts';
import { newObjectKey, type ObjectPlace, sealObjectKey } from '../encryption/object-key.ts';
import { OpenedObjectKey } from '../encryption/opened-object-key.ts';
import { openCustomerSealed } from './customer-sealed.ts';
import { type ChosenEncryption, dataKeyContext } from './decide-encryption.ts';
import type { Environment } from './environment.ts';
import { OpenedObjectKeys } from './opened-object-keys.ts';
import type { SealedKeys, ServiceSealedKeys } from './records/object-record.ts';

/** A fresh key for a new object or upload, and what its record keeps of it. Throws `KeySourceError`. */
export async function makeObjectKey(
  environment: Pick<Environment, 'keys' | 'random'>,
  chosen: ChosenEncryption,
  place: ObjectPlace,
): Promise<{ readonly objectKey: Buffer; readonly sealed: SealedKeys }> {
  const { random } = environment;
  const objectKey = newObjectKey(random);
  if (chosen.scheme !== 'SSE-C') return { objectKey, sealed: await sealUnder(environment, chosen, place, objectKey) };
  const sealed = chosen.customerKey.seal(objectKey, place, random).toString('base64');
  return { objectKey, sealed: { scheme: 'SSE-C', objectKey: sealed } };
}

/** Seals the key of an object, new or not, under a data key. Throws `KeySourceError`. */
export async function sealUnder(
  { keys, random }: Pick<Environment, 'keys' | 'random'>,
  chosen: Exclude<ChosenEncryption, { scheme: 'SSE-C' }>,
  place: ObjectPlace,
  objectKey: Buffer,
): Promise<ServiceSealedKeys> {
  const { scheme, context, bucketKey } = chosen;
  const { plaintext, sealed } = await keys.generate(chosen.keyName, dataKeyContext(place.bucket, context));
  const { keyName, keyVersion, ciphertext } = sealed;
  const outer = { origin: 'service', bytes: plaintext } as const;
  return {
    scheme,
    keyName,
    ...(keyVersion === undefined ? {} : { keyVersion }),
    dataKey: ciphertext,
    objectKey: sealObjectKey(objectKey, outer, place, random).toString('base64'),
    ...(context && { context }),
    ...(bucketKey !== undefined && { bucketKey }),
  };
}

/** Of this thread. */
const opened = new OpenedObjectKeys();

/**
 * The key again, at once where it was opened before. Fails with `KeySourceError`, `DamagedCiphertext` when the record was put together
 * from others, and an `S3Error` where the client's key is needed and not the one given.
 */
export function recoverObjectKey(
  environment: Pick<Environment, 'keys'>,
  sealed: SealedKeys,
  place: ObjectPlace,
  customerKey?: CustomerKey,
): OpenedObjectKey | Promise<OpenedObjectKey> {
  if (sealed.scheme === 'SSE-C') return new OpenedObjectKey(openCustomerSealed(sealed, place, customerKey));
  const { keyName, keyVersion, dataKey: ciphertext, objectKey, context } = sealed;
  const dataKey = environment.keys.unseal({ keyName, keyVersion, ciphertext }, dataKeyContext(place.bucket, context));
  if (dataKey instanceof Promise) return dataKey.then((bytes) => opened.open(objectKey, bytes, place));
  return opened.open(objectKey, dataKey, place);
}
