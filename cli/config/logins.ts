import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeUnfinished, writeFileAtomically } from '../../platform/files/atomic-file.ts';
import { withFileLock } from './file-lock.ts';
import { ProgramError } from '../../platform/errors/program-error.ts';

/** The state of a single sign-on: the temporary credentials, and what renews them. It is stored in a file only for its owner. */
export interface Login {
  readonly version: 1;
  /** The server that the credentials are for. Another server under the same alias never gets them. */
  readonly url: string;
  readonly credentials: {
    readonly accessKey: string;
    readonly secretKey: string;
    readonly sessionToken: string;
    /** ISO 8601. */
    readonly expiration: string;
  };
  readonly provider: LoginProvider;
  /** Absent if the provider gives none: then the credentials cannot be renewed. */
  readonly refreshToken?: string;
}

/** The identity provider of a login, as the server named it. */
export interface LoginProvider {
  readonly name: string;
  readonly configUrl: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly roleArn?: string;
}

function folderOf(configFolder: string): string {
  return join(configFolder, 'logins');
}

function pathOf(configFolder: string, alias: string): string {
  return join(folderOf(configFolder), `${alias}.json`);
}

/** Returns the logins by alias. A damaged file is left out: a new login replaces it. */
export async function readLogins(configFolder: string): Promise<ReadonlyMap<string, Login>> {
  const names = await readdir(folderOf(configFolder)).catch(() => []);
  const aliases = names.flatMap((name) => /^([a-zA-Z][\w-]*)\.json$/.exec(name)?.[1] ?? []);
  const logins = await Promise.all(
    aliases.map(async (alias) => [alias, await readLogin(configFolder, alias)] as const),
  );
  return new Map(logins.filter((found): found is readonly [string, Login] => found[1] !== undefined));
}

export async function readLogin(configFolder: string, alias: string): Promise<Login | undefined> {
  try {
    const login = JSON.parse(await readFile(pathOf(configFolder, alias), 'utf8')) as Partial<Login>;
    const whole = login.version === 1 && login.url && login.credentials?.expiration && login.provider?.configUrl;
    return whole ? (login as Login) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Runs `work` while no other program changes the login of an alias. A provider may accept a refresh token once only, so that two programs must
 * not renew it at once.
 */
export async function withLoginLock<T>(
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
  alias: string,
  work: () => Promise<T>,
): Promise<T> {
  return withFileLock(join(folderOf(folder), alias), signal, work);
}

/** Writes a login. The caller has its lock. */
export async function writeLogin(configFolder: string, alias: string, login: Login): Promise<void> {
  const path = pathOf(configFolder, alias);
  try {
    await mkdir(folderOf(configFolder), { recursive: true, mode: 0o700 });
    await removeUnfinished(path);
    await writeFileAtomically(path, `${JSON.stringify(login, undefined, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    throw new ProgramError('BadConfig', `Unable to write \`${path}\``, { cause: error });
  }
}

/**
 * Removes the login of an alias, and what a killed command left of one. Returns the login; undefined if there is none, and `damaged` for a file
 * that is none.
 */
export async function removeLogin(
  context: { readonly folder: string; readonly signal: AbortSignal },
  alias: string,
): Promise<Login | 'damaged' | undefined> {
  const path = pathOf(context.folder, alias);
  const names = await readdir(folderOf(context.folder)).catch(() => []);
  // Most aliases have no login, and need no lock.
  if (!names.some((name) => name.replace(/^\./, '').startsWith(`${alias}.`))) return undefined;
  return withLoginLock(context, alias, async () => {
    const stored = await readLogin(context.folder, alias);
    try {
      await removeUnfinished(path, 0);
      await rm(path);
      return stored ?? 'damaged';
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw new ProgramError('BadConfig', `Unable to remove \`${path}\``, { cause: error });
    }
  });
}
