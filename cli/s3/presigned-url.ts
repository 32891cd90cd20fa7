import { presignUrl } from '../../protocol/sigv4/sign-request.ts';
import type { Alias } from '../config/aliases.ts';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { addressOf } from './client.ts';
import type { ObjectRef } from './objects.ts';

interface Presigning {
  readonly now: Date;
  /** Seconds, 1 to 604800. */
  readonly expires: number;
  /** The default is us-east-1. */
  readonly region: string | undefined;
}

/**
 * Returns an address with which everybody can read an object until it expires.
 *
 * @throws ProgramError BadArgument for a key with a part `.` or `..`, which no program leaves in an address
 */
export function presignedUrl(alias: Alias, { bucket, key, versionId }: ObjectRef, presigning: Presigning): URL {
  const { host, rawPath, rawQuery } = addressOf(alias, bucket, key, { versionId });
  const { protocol } = new URL(alias.url);
  const url = new URL(`${protocol}//${host}${rawPath}${rawQuery === '' ? '' : `?${rawQuery}`}`);
  if (url.pathname !== rawPath) {
    throw new ProgramError(
      'BadArgument',
      `The key \`${key}\` cannot be in an address, which has no "." and ".." folders`,
    );
  }
  const { now, expires, region = 'us-east-1' } = presigning;
  return presignUrl(url, alias, { now, expires, region, service: 's3' });
}
