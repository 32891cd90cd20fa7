import type { ResourceReference } from '../workload.ts';

/** The reverse of `workloadName`; undefined for a name that it never makes. */
export function workloadOwner(workload: string): ResourceReference | undefined {
  const [, server] = /^(.+)-server$/.exec(workload) ?? [];
  if (server !== undefined) return { kind: 'Tenant', name: server };
  const [, keyService] = /^(.+)-key-service$/.exec(workload) ?? [];
  return keyService === undefined ? undefined : { kind: 'KMSConfig', name: keyService };
}
