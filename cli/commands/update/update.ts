import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeFileAtomically } from '../../../platform/files/atomic-file.ts';
import { createLimitedFetch } from '../../../platform/http/limited-fetch.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { Context } from '../context.ts';
import { entryPath, isNewer, readRelease, type Release, type ReleaseFile } from './release.ts';

/** Milliseconds for one file. */
const downloadMs = 60_000;
const maxFileBytes = 32 * 1_024 * 1_024;

/** Bytes of a file below the address of the releases. */
type Download = (path: string) => Promise<Buffer>;

/**
 * Replaces the installed client by the release at an address, if that is newer. Every file is checked before the first one is written, and
 * the last write replaces the file that runs: at any moment the whole old or the whole new client is there.
 *
 * Exits as `mc` does: 0 for the newest version, 1 after an update, 255 for a failure.
 */
export async function update(context: Context, [given]: readonly string[]): Promise<void> {
  const { env } = context.io;
  try {
    const folder = await packageFolder(import.meta.url);
    const [address, key] = [given ?? env['COFFER_UPDATE_URL'] ?? '', env['COFFER_UPDATE_KEY'] ?? ''];
    if (address === '' || key === '') {
      throw new ProgramError(
        'BadConfig',
        'Nobody says where releases are: set COFFER_UPDATE_URL to their address and COFFER_UPDATE_KEY to their public key',
      );
    }
    const download = downloadFrom(address, context.signal);
    const current = await versionOf(folder);
    const signature = await download('manifest.json.sig');
    const release = readRelease(await download('manifest.json'), signature.toString('utf8'), key);
    if (!isNewer(release.version, current)) {
      context.output.message(`The version ${current} is the newest one.`, { version: current, updated: false });
      return;
    }
    await install(folder, release, download);
    context.output.message(`Updated from ${current} to ${release.version}.`, {
      version: release.version,
      previous: current,
      updated: true,
    });
  } catch (error) {
    throw failure(error);
  }
  throw new ProgramError('Reported', 'The client was updated', { exitCode: 1 });
}

/** Repeats an error with the exit code of a failed update. */
function failure(error: unknown): ProgramError {
  if (error instanceof ProgramError)
    return new ProgramError(error.code, error.message, { cause: error.cause, exitCode: 255 });
  return new ProgramError('Failed', 'Unable to update', { cause: error, exitCode: 255 });
}

/**
 * Returns the folder of the npm package that a module of it is in.
 *
 * @throws ProgramError Failed in a checkout or an image
 */
async function packageFolder(moduleUrl: string): Promise<string> {
  const folder = dirname(dirname(fileURLToPath(moduleUrl)));
  const document = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}');
  const { bin } = JSON.parse(document) as { readonly bin?: { readonly coffer?: string } };
  if (!moduleUrl.endsWith('.ts') && bin?.coffer === entryPath) return folder;
  throw new ProgramError(
    'Failed',
    'This client was not installed as a package: update the checkout by git, or the image by a newer one',
  );
}

async function versionOf(folder: string): Promise<string> {
  return (JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { readonly version: string }).version;
}

function downloadFrom(address: string, signal: AbortSignal): Download {
  const base = address.endsWith('/') ? address : `${address}/`;
  if (!/^https?:\/\//i.test(base) || !URL.canParse(base)) {
    throw new ProgramError('BadArgument', `Invalid address \`${address}\`: write https://HOST/FOLDER`);
  }
  const fetch = createLimitedFetch({ timeoutMs: downloadMs, maxBytes: maxFileBytes });
  return async (path) => {
    const url = new URL(path, base).href;
    const response = await fetch(url, { signal }).catch((error: unknown) => {
      throw new ProgramError('Failed', `Unable to read ${url}`, { cause: error });
    });
    if (response.status !== 200)
      throw new ProgramError('Failed', `Unable to read ${url}: the answer is ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  };
}

/** The file that runs comes after the modules that it names. After it comes the version: without it the next update does the same again. */
function turnOf(path: string): number {
  if (path === entryPath) return 1;
  return path === 'package.json' ? 2 : 0;
}

/** Writes the files of a release into the folder of the package. The caller has checked their paths. */
export async function install(folder: string, { files }: Release, download: Download): Promise<void> {
  const checked: (readonly [ReleaseFile, Buffer])[] = [];
  for (const file of files) checked.push([file, await verified(file, download)]);
  // The names of the other modules change with their content, so that the old entry finds its own until it is replaced.
  const old = new Set(await readdir(join(folder, 'lib')));
  try {
    for (const [{ path }, bytes] of checked.toSorted(([one], [other]) => turnOf(one.path) - turnOf(other.path))) {
      const target = join(folder, path);
      await mkdir(dirname(target), { recursive: true });
      await writeFileAtomically(target, bytes, { mode: path === entryPath ? 0o755 : 0o644 });
    }
  } catch (error) {
    throw new ProgramError('Failed', `Unable to write in \`${folder}\`: update as the user who installed the client`, {
      cause: error,
    });
  }
  for (const { path } of files) old.delete(path.replace(/^lib\//, ''));
  for (const name of old) await rm(join(folder, 'lib', name), { force: true });
}

async function verified({ path, sha256, size }: ReleaseFile, download: Download): Promise<Buffer> {
  const bytes = await download(path);
  const found = createHash('sha256').update(bytes).digest('hex');
  if (bytes.length === size && found === sha256) return bytes;
  throw new ProgramError(
    'Untrusted',
    `The file ${path} of the release does not match its checksum; nothing was changed`,
  );
}
