import type { Spec } from './rule-case.ts';

/** Every field of a pod, as Tenant and KMSConfig have them. */
export const podSpec: Spec = {
  imagePullPolicy: 'IfNotPresent',
  imagePullSecrets: [{ name: 'registry' }],
  resources: { requests: { cpu: '500m', memory: '512Mi' } },
  nodeSelector: { 'kubernetes.io/arch': 'arm64' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }],
  priorityClassName: 'high',
  runtimeClassName: 'gvisor',
  podSecurityContext: { fsGroup: 2000 },
  containerSecurityContext: { capabilities: { drop: ['ALL'] } },
  serviceAccountName: 'coffer',
  podLabels: { team: 'storage' },
  podAnnotations: { 'example.com/note': 'x' },
  terminationGracePeriodSeconds: 60,
};
