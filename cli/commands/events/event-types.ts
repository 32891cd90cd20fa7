import { ProgramError } from '../../../platform/errors/program-error.ts';

/** The default if no event is named. */
export const defaultEvents = 'put,delete,get';

/** The events of a bucket by the names that flags have for them. */
export const bucketEvents: Readonly<Record<string, readonly string[]>> = {
  put: ['s3:ObjectCreated:*'],
  delete: ['s3:ObjectRemoved:*'],
  get: ['s3:ObjectAccessed:*'],
  replica: ['s3:Replication:*'],
  ilm: ['s3:ObjectRestore:*', 's3:ObjectTransition:*'],
  scanner: ['s3:Scanner:ManyVersions', 's3:Scanner:BigPrefix'],
};

/** Those of a server. */
export const serverEvents: Readonly<Record<string, readonly string[]>> = {
  ...bucketEvents,
  'bucket-creation': ['s3:BucketCreated:*'],
  'bucket-removal': ['s3:BucketRemoved:*'],
};

/** @throws ProgramError BadArgument */
export function typesOf(
  names: readonly string[],
  known: Readonly<Record<string, readonly string[]>>,
): readonly string[] {
  return names.flatMap((name) => {
    const types = Object.hasOwn(known, name) ? known[name] : undefined;
    if (types === undefined) {
      throw new ProgramError('BadArgument', `Unknown event \`${name}\`: there are ${Object.keys(known).join(', ')}`);
    }
    return types;
  });
}
