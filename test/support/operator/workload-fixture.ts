import type { Instance, InstanceState, RunningWorkload } from '../../../operator/contract/runtime.ts';
import type { KubernetesOptions, RestartInput, Workload } from '../../../operator/contract/workload.ts';

// For tests: workloads with as little in them as a decision needs.

const owner = { kind: 'Tenant', name: 'demo' } as const;

export function inputs(fingerprint: string): readonly RestartInput[] {
  return [{ reason: 'TenantChanged', field: 'spec.x', of: owner, fingerprint }];
}

export function kubernetesOptions(more: Partial<KubernetesOptions> = {}): KubernetesOptions {
  return {
    pod: { imagePullSecrets: [], labels: {}, annotations: {}, terminationGracePeriodSeconds: 30 },
    reclaimPolicy: 'Retain',
    hibernated: false,
    services: {},
    ingresses: [],
    networkPolicy: undefined,
    monitoring: undefined,
    ...more,
  };
}

export function sampleWorkload(fingerprint = '1', more: Partial<Workload> = {}): Workload {
  return {
    name: 'demo-server',
    owner,
    program: 'coffer-server',
    arguments: [],
    environment: [],
    ports: [],
    mounts: [],
    readiness: { kind: 'connect', port: 'x' },
    liveness: { kind: 'connect', port: 'x' },
    dependsOn: [],
    replicas: 1,
    kubernetes: kubernetesOptions(),
    inputs: inputs(fingerprint),
    ...more,
  };
}

const states: Readonly<Record<InstanceState['kind'], InstanceState>> = {
  starting: { kind: 'starting' },
  ready: { kind: 'ready' },
  'not-ready': { kind: 'not-ready', message: 'answered 503' },
  broken: { kind: 'broken', restarts: 4, message: 'exit code 1; no data folder' },
  stopping: { kind: 'stopping' },
};

/** `['ready 1', 'broken 2']`: the state of each instance and the fingerprint that it was started with. */
export function runningWorkload(
  instances: readonly string[],
  recorded = '1',
  more: Partial<RunningWorkload> = {},
): RunningWorkload {
  const made = instances.map((text, index): Instance => {
    const [kind = 'ready', fingerprint = '1'] = text.split(' ');
    return { name: `demo-server-${index}`, inputs: inputs(fingerprint), state: states[kind as InstanceState['kind']] };
  });
  return {
    name: 'demo-server',
    inputs: inputs(recorded),
    state: { kind: made.every(({ state }) => state.kind === 'ready') ? 'ready' : 'starting' },
    instances: made,
    wanted: made.length,
    addresses: {},
    ...more,
  };
}
