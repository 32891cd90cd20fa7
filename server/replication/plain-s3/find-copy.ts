import { DeliveryError } from '../../outbox/delivery-error.ts';
import { readVersionListing } from '../remote-listing.ts';
import { checkAnswer, isAbsentThere, type TargetAnswer, type TargetClient } from '../target-client.ts';
import { markOfCopy } from './plain-headers.ts';

type Client = Pick<TargetClient, 'send'>;

/** A copy of a version at an S3 server, which gave it an id of its own. */
export interface Copy {
  readonly kind: 'object';
  /** The id of the other server. */
  readonly versionId: string;
  /** Absent where the replication of this server did not write it. */
  readonly mark: string | undefined;
  readonly headers: TargetAnswer['headers'];
}

/** The state of a key at the other server: its current version, a delete marker, or nothing. */
export type Current = Copy | { readonly kind: 'marker' | 'none' };

/** Versions of a key that are looked at for one copy. */
const maxVersions = 1_000;

export async function currentCopy(client: Client, key: string): Promise<Current> {
  const answer = await client.send({ method: 'HEAD', key });
  if (isAbsentThere(answer)) return { kind: answer.headers['x-amz-delete-marker'] === 'true' ? 'marker' : 'none' };
  if (answer.status !== 200) await throwRefusal(client, key, answer);
  return copyOf(answer.headers);
}

/** The refusal of a HEAD has no document. A GET distinguishes refused credentials, which hold for every version, from a key that may not be read. */
async function throwRefusal(client: Client, key: string, answer: TargetAnswer): Promise<never> {
  const doing = `look for ${key} at the target (s3:GetObject and s3:ListBucket are needed)`;
  if (answer.status < 500) {
    const answer = await client.send({ method: 'GET', key, headers: { range: 'bytes=0-0' } });
    if (answer.status >= 400 && answer.status !== 404 && answer.status !== 416) checkAnswer(answer, doing);
  }
  checkAnswer(answer, doing);
  throw new DeliveryError('rejected', `could not ${doing}: status ${answer.status}`, { status: answer.status });
}

function copyOf(headers: TargetAnswer['headers'], versionId = headers['x-amz-version-id']): Copy {
  return {
    kind: 'object',
    versionId: typeof versionId === 'string' ? versionId : 'null',
    mark: markOfCopy(headers),
    headers,
  };
}

/** The versions of a key at the other server, and whether one of its delete markers is among them. */
interface History {
  /** The newest copy that was found. */
  readonly copy: Copy | undefined;
  /** An older version is the same as the copy. */
  readonly isAmbiguous: boolean;
  readonly hasDeleteMarker: boolean;
}

/** Says which copy belongs to a version: by its mark, or by what it is where the version takes no mark. */
export interface Sought {
  readonly mark: string;
  /** Absent for a version that takes a mark. */
  readonly isUnmarkedCopy?: ((headers: TargetAnswer['headers']) => boolean) | undefined;
}

export function isSought({ mark, isUnmarkedCopy }: Sought, copy: Pick<Copy, 'mark' | 'headers'>): boolean {
  return isUnmarkedCopy === undefined ? copy.mark === mark : copy.mark === undefined && isUnmarkedCopy(copy.headers);
}

/**
 * Looks for a copy among all versions of a key. It asks for each of them, since listings have no metadata. A mark is found once; of copies
 * without a mark there may be several.
 */
export async function findInHistory(client: Client, key: string, sought: Sought): Promise<History> {
  let hasDeleteMarker = false;
  let copy: Copy | undefined;
  for (let asked = 0, from: { readonly key: string; readonly versionId?: string } | undefined; asked < maxVersions;) {
    const answer = await client.send({
      method: 'GET',
      query: {
        versions: '',
        prefix: key,
        'encoding-type': 'url',
        ...(from && { 'key-marker': from.key, ...(from.versionId && { 'version-id-marker': from.versionId }) }),
      },
    });
    checkAnswer(answer, `list the versions of ${key} (s3:ListBucketVersions is needed)`);
    const { versions, next } = readVersionListing(answer.text);
    for (const version of versions) {
      if (version.key !== key) return { copy, isAmbiguous: false, hasDeleteMarker };
      hasDeleteMarker ||= version.deleteMarker;
      if (version.deleteMarker) continue;
      asked += 1;
      const { versionId } = version;
      const head = await client.send({ method: 'HEAD', key, query: { versionId } });
      if (isAbsentThere(head)) continue;
      checkAnswer(head, `look for a version of ${key} (s3:GetObjectVersion is needed)`);
      const found = copyOf(head.headers, versionId);
      if (!isSought(sought, found)) continue;
      if (copy !== undefined) return { copy, isAmbiguous: true, hasDeleteMarker };
      copy = found;
      if (sought.isUnmarkedCopy === undefined) return { copy, isAmbiguous: false, hasDeleteMarker };
    }
    if (next === undefined) break;
    from = next;
  }
  return { copy, isAmbiguous: false, hasDeleteMarker };
}
