import { AdminError } from '../../administration/admin-error.ts';
import type { AdminServices } from '../../administration/services.ts';
import type { Support } from '../../administration/support.ts';

export function supportOf({ support }: Pick<AdminServices, 'support'>): Support {
  if (support !== undefined) return support;
  throw new AdminError('XCofferRefused', 'This server measures nothing.');
}
