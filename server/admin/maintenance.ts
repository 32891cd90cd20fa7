import { type Maintenance } from '../maintenance/maintenance.ts';
import { cofferPath, type AdminAnswer, json, nothing, type Route } from './call.ts';
import type { AdminServices } from '../administration/services.ts';
import { MaintenanceError } from '../maintenance/maintenance-error.ts';
import { adminError } from '../administration/admin-error.ts';

/** Damaged objects per page. */
const PAGE = 1_000;

/** Coffer's own calls for maintenance of the stores, which only the serving process can do. */
export const maintenanceRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: cofferPath('verify'),
    action: 'admin:VerifyStore',
    slow: true,
    serve: ({ services, query }) =>
      withMaintenance(services, (maintenance) => maintenance.verify({ bodies: query.get('bodies') !== 'false' })),
  },
  {
    method: 'POST',
    path: cofferPath('snapshot'),
    action: 'admin:SnapshotStore',
    slow: true,
    serve: ({ services, query }) =>
      withMaintenance(services, (maintenance) => maintenance.snapshot(query.get('name') ?? '')),
  },
  {
    method: 'GET',
    path: cofferPath('scrub'),
    action: 'admin:ScrubStatus',
    serve: ({ services }) => withMaintenance(services, (maintenance) => maintenance.scrub()),
  },
  {
    method: 'GET',
    path: cofferPath('quarantine'),
    action: 'admin:ListQuarantine',
    serve: ({ services, query }) =>
      withMaintenance(services, async (maintenance) => {
        const [bucket, key, order] = [query.get('bucket'), query.get('key'), query.get('order')];
        const after = bucket === null ? undefined : { bucket, key: key ?? '', ...(order !== null && { order }) };
        return maintenance.quarantined(after, PAGE);
      }),
  },
  {
    method: 'POST',
    path: cofferPath('promote'),
    action: 'admin:PromoteStore',
    serve: ({ services }) => withMaintenance(services, (maintenance) => maintenance.promote()),
  },
  {
    method: 'GET',
    path: cofferPath('read-only'),
    action: 'admin:SetReadOnly',
    serve: ({ services }) =>
      withMaintenance(services, async (maintenance) => ({ readOnly: await maintenance.isReadOnly() })),
  },
  {
    method: 'POST',
    path: cofferPath('read-only'),
    action: 'admin:SetReadOnly',
    serve: ({ services, query }) =>
      withMaintenance(services, async (maintenance) => {
        const mode = query.get('mode');
        if (mode !== 'on' && mode !== 'off') throw adminError('XCofferInvalidRequest', 'mode must be on or off.');
        await maintenance.setReadOnly(mode === 'on');
        return { readOnly: mode === 'on' };
      }),
  },
];

async function withMaintenance(
  { maintenance }: AdminServices,
  call: (maintenance: Maintenance) => Promise<unknown>,
): Promise<AdminAnswer> {
  if (maintenance === undefined) throw adminError('XCofferRefused', 'This server does not maintain its stores.');
  try {
    const value = await call(maintenance);
    return value === undefined ? nothing : json(value);
  } catch (error) {
    if (error instanceof MaintenanceError) {
      throw adminError('XCofferRefused', error.message, { cause: error });
    }
    throw error;
  }
}
