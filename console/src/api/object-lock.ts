import { useQuery } from '@tanstack/react-query';
import { readEditable, textAt } from '../../../protocol/s3/xml-edit.ts';
import { xml, xmlDocument } from '../text/xml.ts';
import { useApiMutation } from './queries.ts';
import { s3, unlessAbsent } from './s3.ts';

export interface Lock {
  readonly mode?: 'GOVERNANCE' | 'COMPLIANCE';
  /** ISO 8601. */
  readonly until?: string;
  readonly legalHold: boolean;
}

/** A version of an object. A lock is one of a version: a key alone would name the version that others stored meanwhile. */
export interface VersionPlace {
  readonly bucket: string;
  readonly key: string;
  readonly versionId: string;
}

export interface Retention {
  readonly mode: NonNullable<Lock['mode']>;
  readonly until: string;
  /** Also shortens a retention in mode GOVERNANCE. */
  readonly bypass: boolean;
}

/** The lock of a version, which has none where the bucket has no object lock. */
export async function readLock(place: VersionPlace): Promise<Lock> {
  const [retention, hold] = await Promise.all([read(place, 'retention'), read(place, 'legal-hold')]);
  const mode = retention && textAt(retention, ['Mode']);
  return {
    ...(mode === 'GOVERNANCE' || mode === 'COMPLIANCE' ? { mode } : {}),
    ...(retention && { until: textAt(retention, ['RetainUntilDate']) ?? '' }),
    legalHold: hold !== undefined && textAt(hold, ['Status']) === 'ON',
  };
}

async function read({ bucket, key, versionId }: VersionPlace, name: string) {
  const none = ['NoSuchObjectLockConfiguration', 'InvalidRequest', 'ObjectLockConfigurationNotFoundError'];
  const answer = await unlessAbsent(none, s3('GET', bucket, { key, query: { [name]: '', versionId } }));
  return answer && readEditable(await answer.text());
}

export async function writeRetention(
  { bucket, key, versionId }: VersionPlace,
  { mode, until, bypass }: Retention,
): Promise<void> {
  await s3('PUT', bucket, {
    key,
    query: { retention: '', versionId },
    headers: bypass ? { 'x-amz-bypass-governance-retention': 'true' } : {},
    body: xmlDocument('Retention', [xml('Mode', mode), xml('RetainUntilDate', until)]),
  });
}

export async function writeLegalHold({ bucket, key, versionId }: VersionPlace, on: boolean): Promise<void> {
  const body = xmlDocument('LegalHold', [xml('Status', on ? 'ON' : 'OFF')]);
  await s3('PUT', bucket, { key, query: { 'legal-hold': '', versionId }, body });
}

export function useLock(place: VersionPlace, enabled: boolean) {
  const { bucket, key, versionId } = place;
  return useQuery({ queryKey: ['lock', bucket, key, versionId], queryFn: () => readLock(place), enabled });
}

/** The page shows the current version, which may be another one by now. */
const stale = ['lock', 'object'];

export function useSetRetention(place: VersionPlace) {
  return useApiMutation((retention: Retention) => writeRetention(place, retention), stale);
}

export function useSetLegalHold(place: VersionPlace) {
  return useApiMutation((on: boolean) => writeLegalHold(place, on), stale);
}
