import type { Status } from '../identities/identity-records.ts';
import { AdminError } from './admin-error.ts';

/** Of users and groups `enabled` and `disabled`, of access keys also `on` and `off`, as clients of different ages say. */
export function statusOf(text: string): Status {
  if (text === 'enabled' || text === 'on') return 'enabled';
  if (text === 'disabled' || text === 'off') return 'disabled';
  throw new AdminError(
    'XMinioAdminInvalidArgument',
    `A status is enabled or disabled, not ${JSON.stringify(text.slice(0, 40))}.`,
  );
}
