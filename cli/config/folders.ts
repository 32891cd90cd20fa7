import { homedir } from 'node:os';
import { posix, win32 } from 'node:path';
import { ProgramError } from '../../platform/errors/program-error.ts';

/** The folders of the client's files. */
export interface Folders {
  /** The folder of config.json. */
  readonly config: string;
  /** The folder of certificates; the authorities are in `CAs` below it. */
  readonly certs: string;
}

/** The properties of a machine that decide about the folders. They are an argument, so that the rules of Windows are tested on every system. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  /** The home of the user, as the system knows it; undefined for a user without one. Windows does not use it. */
  readonly home: string | undefined;
}

/**
 * Returns the folders: those below the folder of the option or of `COFFER_CONFIG_DIR` or `MC_CONFIG_DIR`, otherwise `~/.coffer` with
 * `certs` in it. On Windows the certificates are in `coffer\certs` of the user's folder, as the specification has it.
 *
 * @throws ProgramError BadConfig if neither a variable nor the system names the folder of the user
 */
export function foldersOf(option: string | undefined, { platform, env, home }: Machine): Folders {
  const path = platform === 'win32' ? win32 : posix;
  const given = option || env['COFFER_CONFIG_DIR'] || env['MC_CONFIG_DIR'];
  if (given) return { config: given, certs: path.join(given, 'certs') };
  const user = platform === 'win32' ? windowsHome(env) : home;
  if (user === undefined) {
    throw new ProgramError(
      'BadConfig',
      'There is no folder for config.json: HOME is not set, and the system knows no home of this user; set HOME or COFFER_CONFIG_DIR, or use --config-dir',
    );
  }
  const config = path.join(user, '.coffer');
  return { config, certs: platform === 'win32' ? path.join(user, 'coffer', 'certs') : path.join(config, 'certs') };
}

function windowsHome(env: NodeJS.ProcessEnv): string {
  const { HOME, USERPROFILE, HOMEDRIVE, HOMEPATH } = env;
  if (HOME) return HOME;
  if (USERPROFILE) return USERPROFILE;
  if (HOMEDRIVE && HOMEPATH) return `${HOMEDRIVE}${HOMEPATH}`;
  throw new ProgramError(
    'BadConfig',
    'There is no folder for config.json: none of HOME, USERPROFILE, and HOMEDRIVE with HOMEPATH is set; set one of them, or use --config-dir',
  );
}

/** Returns the home of the user. A process in a container may run as a user that the system does not know. */
export function systemHome(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}
