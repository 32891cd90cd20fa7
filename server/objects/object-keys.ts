import { newObjectKey, type ObjectPlace, openObjectKey, sealObjectKey } from '../encryption/object-key.ts';
import { type ChosenEncryption, dataKeyContext } from './decide-encryption.ts';
import type { Environment } from './environment.ts';
import type { SealedKeys } from './records/object-record.ts';

/** A fresh key for a new object or upload, and what its record keeps of it. Throws `KeySourceError`. */
export async function makeObjectKey(
  environment: Environment,
  chosen: ChosenEncryption,
  place: ObjectPlace,
): Promise<{ readonly objectKey: Buffer; readonly sealed: SealedKeys }> {
  const { keys, random } = environment;
  const dataKey = await keys.generate(chosen.keyName, dataKeyContext(place.bucket, chosen.context));
  const objectKey = newObjectKey(random);
  const { keyName, keyVersion, ciphertext } = dataKey.sealed;
  const sealed: SealedKeys = {
    scheme: chosen.scheme,
    keyName,
    ...(keyVersion === undefined ? {} : { keyVersion }),
    dataKey: ciphertext.toString('base64'),
    objectKey: sealObjectKey(objectKey, dataKey.plaintext, place, random).toString('base64'),
    ...(chosen.context && { context: chosen.context }),
  };
  return { objectKey, sealed };
}

/** The key again. Throws `KeySourceError`, and `DamagedCiphertext` when the record was put together from others. */
export async function recoverObjectKey(
  environment: Pick<Environment, 'keys'>,
  sealed: SealedKeys,
  place: ObjectPlace,
): Promise<Buffer> {
  const dataKey = await environment.keys.unseal(
    {
      keyName: sealed.keyName,
      ciphertext: Buffer.from(sealed.dataKey, 'base64'),
      ...(sealed.keyVersion === undefined ? {} : { keyVersion: sealed.keyVersion }),
    },
    dataKeyContext(place.bucket, sealed.context),
  );
  return openObjectKey(Buffer.from(sealed.objectKey, 'base64'), dataKey, place);
}
