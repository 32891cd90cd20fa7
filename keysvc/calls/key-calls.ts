import { makeKey, keyBytes, keyOf, type KeyAlgorithm } from '../keys/key.ts';
import { empty, type Answer, type Call, readJsonBody, json } from './call.ts';
import { withCallErrors, callError, toCallError, rejectedCall } from './call-error.ts';
import { importRequest, writeKeyList } from '../../protocol/key-service/payloads.ts';
import { maxRotatedName } from '../keys/key-versions.ts';
import { KeyError } from '../keystores/keystore.ts';
import { matchesListing } from '../../protocol/key-service/names.ts';

export async function createKey({ service, argument, identity }: Call): Promise<Answer> {
  if (service.hasSealed(argument)) await refuseToRemake(service, argument);
  const key = makeKey(new Date(service.now()), identity);
  await withCallErrors(service.keyring.create(argument, key), 'createFailed');
  return empty;
}

/** A lost key under which data was sealed is never made anew: the new one could not open that data. An import gives it back. */
async function refuseToRemake({ keyring }: Call['service'], name: string): Promise<void> {
  try {
    await keyring.get(name);
  } catch (error) {
    if (!(error instanceof KeyError && error.code === 'not-found')) throw toCallError(error, 'createFailed');
    throw rejectedCall(
      403,
      `not authorized: data was sealed under the key ${name}, which is lost: a new key could not open it; import the old one`,
      { cause: error },
    );
  }
}

/** The names of the ciphers in both generations of the protocol. */
const algorithms: Readonly<Record<string, KeyAlgorithm>> = {
  AES256: 'AES256-GCM_SHA256',
  'AES256-GCM_SHA256': 'AES256-GCM_SHA256',
  ChaCha20: 'XCHACHA20-POLY1305',
  'XCHACHA20-POLY1305': 'XCHACHA20-POLY1305',
};

/** Imports a key. It never replaces an existing one. */
export async function importKey({ service, argument, identity, request, route }: Call): Promise<Answer> {
  const { generation, bytes, algorithm: asked = 'AES256' } = await readJsonBody(request, importRequest, route.maxBody);
  const algorithm = Object.hasOwn(algorithms, asked) ? algorithms[asked] : undefined;
  if (algorithm === undefined) throw rejectedCall(406, `algorithm '${asked.slice(0, 80)}' is not supported`);
  if (bytes.length !== keyBytes) {
    throw generation === 1 ? callError('invalidKeySize') : rejectedCall(406, `invalid key size for '${asked}'`);
  }
  const key = keyOf(bytes, algorithm, new Date(service.now()), identity);
  await withCallErrors(service.keyring.create(argument, key), 'createFailed');
  return empty;
}

/** Adds a version to a key. New encryptions use it, and older versions still decrypt. Only our key service has this call. */
export async function rotateKey({ service, argument, identity }: Call): Promise<Answer> {
  if (argument.length > maxRotatedName) {
    throw rejectedCall(400, `invalid argument: a key whose name is longer than ${maxRotatedName} cannot be rotated`);
  }
  const rotated = service.keyring.rotate(argument, new Date(service.now()), identity);
  const { newest, all } = await withCallErrors(rotated, 'createFailed');
  return json({ version: newest.id, versions: all.length });
}

export async function describeKey({ service, argument }: Call): Promise<Answer> {
  const { newest: key, all } = await withCallErrors(service.keyring.versions(argument), 'accessFailed');
  return json({
    name: argument,
    id: key.id,
    algorithm: key.algorithm,
    created_at: key.createdAt?.toISOString(),
    created_by: key.createdBy,
    // Sent only for several versions, which the protocol does not have.
    versions: all.length === 1 ? undefined : all.map(({ id }) => id),
  });
}

export async function deleteKey({ service, argument }: Call): Promise<Answer> {
  await withCallErrors(service.keyring.delete(argument), 'deleteFailed');
  return empty;
}

/** Lists the keys that match the pattern. It omits those that the policy of the caller denies, also for a wider pattern. */
export async function listKeys({ service, argument, identity, route }: Call): Promise<Answer> {
  const names: string[] = [];
  try {
    for await (const name of service.keyring.list()) {
      if (!matchesListing(argument, name)) continue;
      if (identity === undefined || service.authorizer.allows(identity, `${route.path}/${name}`)) names.push(name);
    }
  } catch (error) {
    throw toCallError(error, 'listFailed');
  }
  return { kind: 'lines', text: writeKeyList(names.sort()) };
}
