import type { AdminServices } from '../administration/services.ts';
import { adminPath, type AdminAnswer, type AdminCall, json, type Route } from './call.ts';

export const storageRoutes: readonly Route[] = [
  { method: 'GET', path: adminPath('storageinfo'), action: 'admin:StorageInfo', serve: storageInfo },
];

/** Erasure coding of one set with one drive, as clients expect. */
export const backend = {
  Type: 2,
  GatewayOnline: false,
  OnlineDisks: null,
  OfflineDisks: null,
  StandardSCData: [1],
  StandardSCParities: null,
  RRSCData: [1],
  RRSCParities: null,
  TotalSets: [1],
  DrivesPerSet: [1],
  StandardSCParity: 0,
  RRSCParity: 0,
};

export interface StorageState {
  readonly space: Awaited<ReturnType<AdminServices['space']>>;
  /** A write would fail now. */
  readonly isAway: boolean;
}

export async function storageState({ space, storeFault }: AdminServices): Promise<StorageState> {
  const isAway = storeFault?.() !== undefined;
  // The folder below an absent volume belongs to another one.
  return { space: isAway ? undefined : await space(), isAway };
}

/** Returns the place of the bodies as the drive that clients expect. A bucket of another S3 has no size, and no inodes. */
export function drive(server: AdminServices['server'], { space, isAway }: StorageState) {
  const used = space === undefined ? 0 : space.total - space.free;
  const inodes = space?.inodes;
  return {
    endpoint: server.dataFolder,
    path: server.dataFolder,
    state: isAway ? 'offline' : 'ok',
    uuid: server.deploymentId,
    ...(space && {
      totalspace: space.total,
      usedspace: used,
      availspace: space.free,
      utilization: space.total === 0 ? 0 : (used / space.total) * 100,
    }),
    local: true,
    ...(inodes && { used_inodes: inodes.total - inodes.free, free_inodes: inodes.free }),
    pool_index: 0,
    set_index: 0,
    disk_index: 0,
  };
}

/** The drive of the store, which all servers share. */
async function storageInfo({ services }: AdminCall): Promise<AdminAnswer> {
  const { server } = services;
  const state = await storageState(services);
  const counts = (count: number) => ({ [server.endpoint]: count });
  return json({
    Disks: [drive(server, state)],
    Backend: { ...backend, OnlineDisks: counts(state.isAway ? 0 : 1), OfflineDisks: counts(state.isAway ? 1 : 0) },
  });
}
