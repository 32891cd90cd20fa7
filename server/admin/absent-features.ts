import { S3Error } from '../../protocol/s3/s3-error.ts';
import { adminPath, type Route } from './call.ts';

/** MinIO calls that Coffer does not offer, with the right that they need and the alternative. */
const absent: readonly (readonly [call: string, action: string, instead: string])[] = [
  [
    'heal/.*|background-heal/status',
    'admin:Heal',
    'Coffer keeps each object once and has nothing to heal from: damage is found by "coffer-store verify" and the scrubber, and mended from a backup.',
  ],
  [
    'pools/.*|rebalance/.*|cordon|uncordon|drain',
    'admin:DecommissionPool',
    'Coffer has no pools of drives: there is nothing to rebalance or to decommission.',
  ],
  [
    'site-replication/.*',
    'admin:SiteReplicationAdd',
    'Coffer does not know this call: sites replicate between Coffer servers only.',
  ],
  ['force-unlock', 'admin:ForceUnlock', 'Coffer holds no locks that could be left behind.'],
  ['update', 'admin:ServerUpdate', 'Coffer is updated by its image or package, which the operator rolls.'],
];

/** These calls fail at once with an explanation, so that no client waits, retries, or takes an empty answer for success. */
export const absentFeatureRoutes: readonly Route[] = absent.map(([call, action, instead]) => ({
  method: 'GET|PUT|POST|DELETE',
  path: adminPath(`(?:${call})`),
  action,
  serve: () => Promise.reject(new S3Error('NotImplemented', instead)),
}));
