import {
  clusterPermissions,
  isPermitted,
  ownPermissions,
  watchedPermissions,
  type Verb,
} from '../../operator/kubernetes/permissions.ts';
import type { ApiRequest } from '../doubles/kubernetes/faults.ts';

/** What the Roles of the chart grant, which are made from the same list. */
export function permitted({ verb, resource }: ApiRequest): boolean {
  const [type = '', subresource] = resource.split('/');
  const [plural = ''] = type.split('.');
  return isPermitted([...watchedPermissions, ...clusterPermissions, ...ownPermissions], verb as Verb, {
    plural,
    ...(subresource === undefined ? {} : { subresource }),
  });
}
