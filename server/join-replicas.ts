import { randomBytes } from 'node:crypto';
import type { Logger } from '../platform/logger.ts';
import { onlyReplica, sharedReplicas } from './replicas/replicas.ts';
import type { Replicas, ReplicasView } from './replicas/replicas.ts';
import type { Services } from './services.ts';
import type { ThreadOptions } from './thread-messages.ts';

const clock = () => performance.now();

/** This server among those that share its records, if they can be shared. */
export function joinReplicas(
  { replica }: ThreadOptions,
  { stores }: Pick<Services, 'stores'>,
  log: Logger,
  onChange: (view: ReplicasView) => void,
): Replicas {
  if (!stores.shared) return onlyReplica(onChange);
  return sharedReplicas({ records: stores.records, replica, random: randomBytes, clock, log, onChange });
}
