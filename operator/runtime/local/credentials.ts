import type { AccessKey, User, Tenant } from '../../api/object.ts';
import type { Secret } from '../../contract/secret.ts';
import { credentialsSecretName, newCredentials } from '../../reconcile/managed/credentials.ts';
import { type StateFolder, randomPassword } from './state-folder.ts';

/**
 * Returns the Secret with the keys of a User or an AccessKey: that of a manifest, or the folder `secrets/NAME` of the state folder, with a
 * 0600 file for each key, which is made once.
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
  // Write the secret key first: a start after a crash continues with it.
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

const names = {
  user: ['SVC_ROOT_USER', 'MINIO_ROOT_USER', 'MINIO_ACCESS_KEY'],
  password: ['SVC_ROOT_PASSWORD', 'MINIO_ROOT_PASSWORD', 'MINIO_SECRET_KEY'],
} as const;

export interface RootCredentials {
  readonly secret: Secret;
  /** The place of the password, for messages. */
  readonly passwordAt: string;
  /** The file of the password, if it has its own. */
  readonly passwordFile?: string;
}

/**
 * Returns the root credentials of a tenant: those of the environment, then those of its Secret, then a password that is made once and kept.
 */
export async function rootCredentials(
  tenant: Tenant,
  secrets: ReadonlyMap<string, Secret>,
  state: StateFolder,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<RootCredentials> {
  const { name } = tenant.metadata;
  const user = firstOf(environment, names.user);
  const password = firstOf(environment, names.password);
  if (user !== undefined && password !== undefined) {
    return {
      secret: credentials('root-credentials-of-the-environment', user.value, password.value),
      passwordAt: `the environment (${password.name})`,
    };
  }
  const named = tenant.spec.rootCredentialsSecret?.name;
  if (named !== undefined) {
    // The renderer reports a missing Secret, with the field that names it.
    return {
      secret: secrets.get(named) ?? { name: named, data: {}, missing: true },
      passwordAt: `the Secret ${named}`,
    };
  }
  const folder = ['secrets', `${name}-root-credentials`] as const;
  const madeUser = user?.value ?? (await state.madeOnce(() => 'admin', ...folder, 'rootUser'));
  const madePassword = password?.value ?? (await state.madeOnce(randomPassword, ...folder, 'rootPassword'));
  const secret = credentials(`${name}-root-credentials`, madeUser, madePassword);
  if (password !== undefined) return { secret, passwordAt: `the environment (${password.name})` };
  const passwordFile = state.at(...folder, 'rootPassword');
  return { secret, passwordAt: passwordFile, passwordFile };
}

function credentials(name: string, rootUser: string, rootPassword: string): Secret {
  return { name, data: { rootUser, rootPassword } };
}

function firstOf(environment: Readonly<Record<string, string | undefined>>, candidates: readonly string[]) {
  for (const name of candidates) {
    const value = environment[name];
    if (value !== undefined && value !== '') return { name, value };
  }
  return undefined;
}
