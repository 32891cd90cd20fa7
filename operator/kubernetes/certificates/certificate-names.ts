import { isIP } from 'node:net';
import { headlessServiceName } from '../objects/services.ts';
import type { CertificateNeed } from '../../workload.ts';

export interface CertificateNames {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

/** Every name by which a workload of the namespace is reached: its Service, its pods, and this machine for `kubectl port-forward`. */
export function certificateNames(need: CertificateNeed, namespace: string): CertificateNames {
  const given = need.alsoValidFor.filter((name) => name !== '0.0.0.0' && name !== '::');
  const inCluster = need.validFor.flatMap((workload) => [
    workload,
    `${workload}.${namespace}`,
    `${workload}.${namespace}.svc`,
    `${workload}.${namespace}.svc.cluster.local`,
    `*.${headlessServiceName(workload)}.${namespace}.svc`,
    `*.${headlessServiceName(workload)}.${namespace}.svc.cluster.local`,
  ]);
  const loopback = need.validFor.length === 0 ? [] : ['localhost', '127.0.0.1', '::1'];
  const names = [...new Set([...inCluster, ...loopback, ...given])];
  return {
    dnsNames: names.filter((name) => isIP(name) === 0),
    ipAddresses: names.filter((name) => isIP(name) !== 0),
  };
}
