import type { ObjectInfo } from '../objects/contract/object-layer.ts';
import type { Sender, Sent } from './send-body.ts';

/**
 * Reports whether a target never got a version. One that it got and has no more was removed there, and must not come back. So is a replica,
 * which the server that made it had.
 */
export function isMissing({ targetId }: Pick<Sender, 'targetId'>, { replication }: ObjectInfo): boolean {
  return replication?.status !== 'REPLICA' && replication?.targets?.[targetId]?.has === undefined;
}

export function removedThere(info: ObjectInfo): Sent {
  return { version: { ...changeOf(info), isRemoved: true }, bytes: 0 };
}

export function changeOf({ replication }: ObjectInfo): NonNullable<Sent['version']> {
  return { changed: replication?.changed };
}
