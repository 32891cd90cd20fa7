import type { ListedVersion } from '../../objects/contract/object-layer.ts';
import { rewrapObject, type RewrapKeys } from '../rewrap/rewrap-records.ts';
import type { BatchDefinition } from './batch-definition.ts';
import { findVersion } from '../../objects/versions/find-version.ts';

/**
 * Seals the key of a version again, under the key that the job names. The body does not change. Returns false for a version with another
 * kind of encryption, and for one that was removed.
 */
export async function rotateVersion(
  rewrapKeys: Omit<RewrapKeys, 'from' | 'to'>,
  definition: BatchDefinition,
  { key, versionId }: ListedVersion,
): Promise<boolean> {
  if (definition.type !== 'keyrotate') return false;
  const { bucket, scheme, fromKey, keyName } = definition;
  const found = await findVersion(rewrapKeys, bucket, key, versionId);
  const sealed = found?.stored.record.sealed;
  if (found === undefined || sealed === undefined || sealed.scheme === 'SSE-C' || sealed.scheme !== scheme)
    return false;
  if (fromKey !== undefined && sealed.keyName !== fromKey) return false;
  const to = keyName ?? rewrapKeys.keys.defaultKey;
  return rewrapObject({ ...rewrapKeys, from: sealed.keyName, to }, { bucket, key, order: found.order });
}
