import type { AccessKey, Secret, User } from '../api/object.ts';
import { credentialsSecretName, newCredentials } from '../reconcile/credentials.ts';
import type { StateFolder } from './state-folder.ts';

/**
 * The Secret with the keys of a User or an AccessKey: that of a manifest, or a folder `secrets/NAME` of the state folder with a 0600
 * file for each key, made once.
 */
export async function madeCredentials(
  resource: User | AccessKey,
  secrets: ReadonlyMap<string, Secret>,
  state: StateFolder,
): Promise<Secret> {
  const name = credentialsSecretName(resource);
  const given = secrets.get(name);
  if (given !== undefined && !(await isMade(name, state))) return given;
  const fresh = newCredentials(resource);
  // First the one that the others are made from, so that a start after a crash in between goes on with it.
  const secretKey = await state.madeOnce(() => fresh['secretKey'] ?? '', 'secrets', name, 'secretKey');
  const data: Record<string, string> = {};
  for (const [key, value] of Object.entries({ ...fresh, secretKey, AWS_SECRET_ACCESS_KEY: secretKey })) {
    data[key] = await state.madeOnce(() => value, 'secrets', name, key);
  }
  return { name, data };
}

async function isMade(name: string, state: StateFolder): Promise<boolean> {
  return (await state.readText('secrets', name, 'secretKey')) !== undefined;
}
