import { realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { displayName, type RemoteTarget, type Target } from '../../../config/target.ts';
import type { EncryptionRules } from '../../../s3/encryption-rules.ts';
import { looksLikeSameObject } from '../../../s3/same-object.ts';
import type { Context } from '../../context.ts';
import { remoteEntries } from '../entries/remote-entries.ts';

/**
 * Refuses a target within its source, which would be copied into itself, and of which --remove would take files of the source. Paths and
 * addresses are not proof: a link or a mount may lead into the source, and two addresses to one server.
 *
 * @throws ProgramError BadArgument; Unsafe if a server cannot be asked
 */
export async function refuseOverlap(
  context: Context,
  source: Target,
  target: Target,
  encryption: EncryptionRules,
): Promise<void> {
  const inside =
    source.kind === 'local'
      ? target.kind === 'local' && (await isWithinFolder(source.path, target.path))
      : target.kind === 'remote' && (await isWithinPrefix(context, source, target, encryption));
  if (inside) throw new ProgramError('BadArgument', 'The target is within the source');
}

/** Compares the folder itself with each folder above the target, as far as they exist. */
async function isWithinFolder(source: string, target: string): Promise<boolean> {
  const outer = await stat(source, { bigint: true });
  for (let path = await existingFolder(target); ; path = dirname(path)) {
    const found = await stat(path, { bigint: true });
    if (found.dev === outer.dev && found.ino === outer.ino) return true;
    if (path === dirname(path)) return false;
  }
}

/** Returns the real path of the target, or of the folder in which it will be made. */
async function existingFolder(target: string): Promise<string> {
  for (let path = resolve(target); ; path = dirname(path)) {
    const real = await realpath(path).catch(() => undefined);
    if (real !== undefined || path === dirname(path)) return real ?? path;
  }
}

async function isWithinPrefix(
  context: Context,
  source: RemoteTarget,
  target: RemoteTarget,
  encryption: EncryptionRules,
): Promise<boolean> {
  if (target.bucket !== source.bucket || !target.key.startsWith(source.key) || target.key === source.key) return false;
  if (target.alias.url === source.alias.url) return true;
  const [from, to] = [await context.client(source.alias), await context.client(target.alias)];
  for await (const { bucket, key, display } of remoteEntries(from, source, { recursive: true })) {
    // The first object decides: it is at both addresses if they lead to one server.
    const other = displayName(target, key);
    return looksLikeSameObject(
      { client: from, display, headers: encryption.forKey(display) },
      { client: to, display: other, headers: encryption.forKey(other) },
      { bucket, key },
    );
  }
  return false;
}
