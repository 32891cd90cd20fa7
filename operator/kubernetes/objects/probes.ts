import type { Json, Probe } from '../../workload.ts';

/**
 * A probe every second: a lone server is away until its first answer as ready, so each second between probes is a second of outage.
 * The start may take long (a store that is migrated), so its probe gives it ten minutes before the liveness probe counts.
 */
export function probes(readiness: Probe, liveness: Probe): Readonly<Record<string, Json>> {
  return {
    startupProbe: { ...action(liveness), periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 600 },
    readinessProbe: { ...action(readiness), periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 3 },
    // Slow to kill: a machine under load is not helped by a restart.
    livenessProbe: { ...action(liveness), periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 12 },
  };
}

/** A kubelet does not check the certificate. */
function action(probe: Probe): Readonly<Record<string, Json>> {
  switch (probe.kind) {
    case 'http':
      return { httpGet: { path: probe.path, port: probe.port, scheme: probe.tls ? 'HTTPS' : 'HTTP' } };
    case 'connect':
      return { tcpSocket: { port: probe.port } };
    default:
      return probe satisfies never;
  }
}
