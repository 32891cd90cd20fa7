import { S3Error } from '../../../protocol/s3/s3-error.ts';

/** The space of each volume that stays free. */
export type Reserve = { readonly bytes: number } | { readonly percent: number };

/** The file system of the bodies and that of the records, which may be another. Undefined where a store does not report its space. */
export interface Volumes {
  readonly bodies: () => Promise<Space | undefined>;
  readonly records: () => Promise<Space | undefined>;
}

interface Space {
  readonly free: number;
  readonly total: number;
}

/**
 * Checks the free space before every write but deletes. Throws `XMinioStorageFull` while less than the reserve is free, or when the
 * body of `announced` bytes would leave less; the caller announces 0 for an inline body. Answers synchronously while the last
 * measurement is fresh.
 */
export type SpaceCheck = (announced: number) => Promise<void> | void;

/** The maximum age of a measurement in milliseconds: measuring for each of 20,000 writes a second would be too expensive. */
const MAX_AGE = 1000;

export function spaceCheck(volumes: Volumes, reserve: Reserve | undefined, clock: () => number): SpaceCheck {
  if (reserve === undefined) return () => undefined;
  let measured = -Infinity;
  let bodies: Space | undefined;
  let records: Space | undefined;
  let measuring: Promise<void> | undefined;
  const measure = async () => {
    try {
      [bodies, records] = await Promise.all([volumes.bodies(), volumes.records()]);
      measured = clock();
    } finally {
      measuring = undefined;
    }
  };
  const judge = (announced: number) => {
    if (records !== undefined) refuseBelow(reserve, 'records', records, 0);
    // A write to the records alone may use the space of deleted records, on a full disk too.
    if (bodies !== undefined && (announced > 0 || records === undefined)) {
      refuseBelow(reserve, 'bodies', bodies, announced);
    }
  };
  return (announced) => {
    const now = clock();
    if (now - measured < MAX_AGE && now >= measured) return judge(announced);
    return (measuring ??= measure()).then(() => judge(announced));
  };
}

function refuseBelow(reserve: Reserve, holds: string, space: Space, announced: number): void {
  const kept = 'bytes' in reserve ? reserve.bytes : (space.total * reserve.percent) / 100;
  if (space.free - announced >= kept) return;
  const body = announced > 0 ? `, the body has ${mebibytes(announced)}` : '';
  throw new S3Error(
    'XMinioStorageFull',
    `Only ${mebibytes(space.free)} are free for ${holds}${body}, and ${mebibytes(kept)} are reserved (SVC_STORAGE_RESERVE). Delete objects to go on.`,
  );
}

function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / 1_048_576)} MiB`;
}
