import { CodedError } from '../../protocol/coded-error.ts';

/**
 * An operation on the stores or their keys that is refused. The message is for administrators. It is not a `StoreError`, which says that a
 * store failed: here the stores work, and a rule refuses.
 */
export class MaintenanceError extends CodedError<
  | 'busy'
  | 'unsupported'
  | 'invalid-name'
  | 'exists'
  | 'key-in-use'
  | 'rotation-in-progress'
  | 'timeout'
  | 'versions-move'
  | 'invalid-job'
  | 'no-such-bucket'
  | 'no-such-job'
  | 'asker-gone'
  | 'no-such-target'
  | 'remote-refused'
  | 'remote-unavailable'
> {
  override readonly name = 'MaintenanceError';
}
