import { ProgramError } from '../../../../platform/errors/program-error.ts';
import type { RemoteTarget } from '../../../config/target.ts';
import type { S3Client } from '../../../s3/client.ts';
import type { ObjectRef } from '../../../s3/objects.ts';
import { checkVersionOptions, rewindOf, type VersionOptions } from './entries.ts';
import { remoteEntries } from './remote-entries.ts';

export interface SelectOptions extends VersionOptions {
  readonly recursive?: boolean;
}

/**
 * Yields the objects that a target and its flags name: one object or version, the versions of an object, or with `recursive` those below a
 * prefix. Delete markers are left out: they have no tags, retention or legal hold.
 *
 * @throws ProgramError NotFound if a single object has no version to choose
 */
export async function* selectObjects(
  client: S3Client,
  target: RemoteTarget,
  options: SelectOptions,
): AsyncGenerator<ObjectRef, void, undefined> {
  const { bucket, key } = target;
  const recursive = options.recursive === true;
  checkVersionOptions(options, recursive);
  const rewind = rewindOf(options);
  const versions = options.versions === true;
  if (!recursive && !versions && rewind === undefined) {
    yield { bucket, key, versionId: options.versionId };
    return;
  }
  let any = false;
  for await (const { key: found, version } of remoteEntries(client, target, { recursive: true, versions, rewind })) {
    // The key itself is the first of those that begin with it.
    if (!recursive && found !== key) break;
    if (version?.deleteMarker === true) continue;
    any = true;
    yield { bucket, key: found, versionId: version?.id };
  }
  if (!any && !recursive) {
    throw new ProgramError(
      'NotFound',
      `\`${target.text}\` has no version${rewind === undefined ? '' : ' at that time'}`,
    );
  }
}

/** Returns the version of an object that `--version-id` or `--rewind` names; undefined for the latest one. */
export async function versionOf(
  client: S3Client,
  target: RemoteTarget,
  { versionId, rewind }: VersionOptions,
): Promise<string | undefined> {
  if (rewind === undefined) return versionId;
  for await (const ref of selectObjects(client, target, { versionId, rewind })) return ref.versionId;
  return undefined;
}
