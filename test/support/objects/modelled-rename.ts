import type { RenameObject } from '../../../server/objects/contract/object-layer.ts';
import type { SeededRandom } from '../seeded-random.ts';

/** The rename that gave an object its key, where the request had a token. */
export interface Renamed {
  readonly token: string;
  /** The other parameters of the request. */
  readonly request: string;
}

interface ModelObject {
  readonly etag: string;
  readonly renamed?: Renamed | undefined;
}

interface Objects<T> {
  readonly source: T | undefined;
  readonly target: T | undefined;
}

/** Chooses the conditions and the token of a rename. Most of the conditions hold. */
export function randomRename(
  random: SeededRandom,
  place: Pick<RenameObject, 'bucket' | 'from' | 'to'>,
  { source, target }: Objects<ModelObject>,
): RenameObject {
  const one = <T>(choices: readonly T[]) => choices[random.between(0, choices.length - 1)];
  const fromEtag = one([undefined, undefined, source?.etag, 'f'.repeat(32)]);
  const toConditions = one([{}, {}, { ifNoneMatch: ['*'] }, { ifMatch: [target?.etag ?? '0'.repeat(32)] }]) ?? {};
  return {
    ...place,
    fromConditions: fromEtag === undefined ? {} : { ifMatch: [fromEtag] },
    toConditions,
    clientToken: one([undefined, 'one', 'two']),
    onlyIds: [],
    onlyTargetId: undefined,
    allowTags: () => Promise.resolve(),
  };
}

/** Returns what the server must answer, and the object under the new key, if the rename changes anything. */
export function modelRename<T extends ModelObject>(
  request: RenameObject,
  { source, target }: Objects<T>,
  hasVersions: boolean,
): { readonly expected: string; readonly moved?: T } {
  const { from, to, clientToken, fromConditions, toConditions } = request;
  if (from === to) return { expected: 'InvalidRequest' };
  if (hasVersions) return { expected: 'InvalidBucketState' };
  // ETags do not count.
  const receipt = JSON.stringify([from, Object.keys(fromConditions), Object.keys(toConditions)]);
  if (clientToken !== undefined && target?.renamed?.token === clientToken) {
    return { expected: target.renamed.request === receipt ? 'renamed' : 'IdempotencyParameterMismatch' };
  }
  const [fromEtag, toEtag] = [fromConditions.ifMatch?.[0], toConditions.ifMatch?.[0]];
  if (source === undefined) return { expected: 'NoSuchKey' };
  if (fromEtag !== undefined && fromEtag !== source.etag) return { expected: 'PreconditionFailed' };
  if (toEtag !== undefined && target === undefined) return { expected: 'NoSuchKey' };
  if (toConditions.ifNoneMatch !== undefined && target !== undefined) return { expected: 'PreconditionFailed' };
  const renamed = clientToken === undefined ? undefined : { token: clientToken, request: receipt };
  return { expected: 'renamed', moved: { ...source, renamed } };
}
