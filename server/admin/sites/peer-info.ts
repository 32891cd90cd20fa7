import type { ShownSites } from '../../administration/sites.ts';

/** Go writes no time as the year 1. */
const noTime = '0001-01-01T00:00:00Z';

/** Returns a site as clients of MinIO know it. */
export function peerInfo(
  { name, endpoint, deploymentId, bandwidthLimit }: ShownSites['sites'][number],
  { replicateIlmExpiry }: Pick<ShownSites, 'replicateIlmExpiry'>,
) {
  return {
    endpoint,
    name,
    deploymentID: deploymentId,
    sync: 'disable',
    defaultbandwidth: { bandwidthLimitPerBucket: bandwidthLimit, set: bandwidthLimit > 0, updatedAt: noTime },
    'replicate-ilm-expiry': replicateIlmExpiry,
    apiVersion: '1',
  };
}
