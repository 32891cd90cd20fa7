/** The events by their group, in the names of AWS and of MinIO. */
const groups: Readonly<Record<string, readonly string[]>> = {
  ObjectCreated: 'Put Post Copy CompleteMultipartUpload PutRetention PutLegalHold PutTagging DeleteTagging'.split(' '),
  ObjectRemoved: ['Delete', 'DeleteMarkerCreated', 'DeleteAllVersions', 'NoOP'],
  ObjectAccessed: ['Get', 'Head', 'GetRetention', 'GetLegalHold', 'Attributes'],
  ObjectTagging: ['Put', 'Delete'],
  ObjectAcl: ['Put'],
  LifecycleExpiration: ['Delete', 'DeleteMarkerCreated'],
  LifecycleDelMarkerExpiration: ['Delete'],
  ObjectRestore: ['Post', 'Completed', 'Delete'],
  ObjectTransition: ['Failed', 'Complete'],
  Replication: [
    'OperationFailedReplication',
    'OperationCompletedReplication',
    'OperationMissedThreshold',
    'OperationReplicatedAfterThreshold',
    'OperationNotTracked',
  ],
  Scanner: ['ManyVersions', 'LargeVersions', 'BigPrefix'],
};

/** Events of AWS without a group. */
const single = ['s3:LifecycleTransition', 's3:IntelligentTiering', 's3:ReducedRedundancyLostObject'];

/** The events of whole buckets, which only `ListenNotification` reports. */
export const bucketEvents = ['s3:BucketCreated:*', 's3:BucketRemoved:*'] as const;

const known: ReadonlySet<string> = new Set([
  ...single,
  ...Object.entries(groups).flatMap(([group, names]) => [
    `s3:${group}:*`,
    ...names.map((name) => `s3:${group}:${name}`),
  ]),
]);

/**
 * Reports whether a rule may ask for this event of objects, by its name or as a group that ends with `:*`.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-how-to-event-types-and-destinations.html
 */
export function isEventName(name: string): boolean {
  return known.has(name);
}

/** Reports whether a rule that asks for `asked` gets events with this name. */
export function covers(asked: string, name: string): boolean {
  return asked === name || (asked.endsWith(':*') && name.startsWith(asked.slice(0, -1)));
}
