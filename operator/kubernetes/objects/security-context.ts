import type { Json, PodOptions } from '../../workload.ts';

/** The user of the image: an unprivileged one that no distribution uses. */
export const programUser = 65_532;

/**
 * The restricted Pod Security Standard. `OnRootMismatch`: walking every file of a large volume at each start would keep a lone server
 * away for minutes.
 *
 * @see https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
 */
export function podSecurityContext(given: PodOptions['podSecurityContext']): Json {
  return laidOver(
    {
      runAsNonRoot: true,
      runAsUser: programUser,
      runAsGroup: programUser,
      fsGroup: programUser,
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    },
    given,
  );
}

export function containerSecurityContext(given: PodOptions['containerSecurityContext']): Json {
  return laidOver(
    {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    given,
  );
}

/** A null takes a field away: OpenShift gives users and groups of its own, and refuses any other. */
function laidOver(own: Readonly<Record<string, Json>>, given: Json | undefined): Json {
  if (typeof given !== 'object' || given === null) return own;
  return Object.fromEntries(Object.entries(Object.assign({}, own, given)).filter(([, value]) => value !== null));
}
