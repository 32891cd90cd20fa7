import { stringify } from 'yaml';
import {
  clusterPermissions,
  ownPermissions,
  policyRules,
  watchedPermissions,
} from '../operator/kubernetes/permissions.ts';

/** `files/permissions.yaml` of the chart: the rules that its Roles hold. */
export function permissionsFile(): string {
  const document = {
    watched: policyRules(watchedPermissions),
    cluster: policyRules(clusterPermissions),
    own: policyRules(ownPermissions),
  };
  return (
    '# Made by `npm run manifests` from operator/kubernetes/permissions.ts, which says why. Do not edit.\n' +
    stringify(document, { aliasDuplicateObjects: false })
  );
}
