import type { Program, Json, Probe, PodOptions, Workload } from '../../contract/workload.ts';
import { writeInputs, componentOf, inputsAnnotation, networkLabel, workloadLabels } from './labels.ts';
import type { ObjectContext } from './object-context.ts';
import { volumeMountsOf, volumesOf } from './volumes.ts';

/**
 * The command that starts a program in the image of the `Containerfile`: it has no entry point and no shell, and every program is an
 * executable on its PATH. Bare names, so that an image derived from ours may keep them elsewhere.
 */
export function imageCommand(program: Program | 'coffer-operator'): readonly [string] {
  return [program];
}

/**
 * A probe every second: a lone server is away until its first answer as ready, so each second between probes is a second of outage.
 * The start may take long (a store that is migrated), so its probe gives it ten minutes before the liveness probe counts.
 */
function probes(readiness: Probe, liveness: Probe): Readonly<Record<string, Json>> {
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

/** The user of the image: an unprivileged one that no distribution uses. */
const programUser = 65_532;

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

/** Everything that needs a new pod when it changes. */
export function podTemplate(workload: Workload, context: ObjectContext): Readonly<Record<string, Json>> {
  const { pod } = workload.kubernetes;
  const component = componentOf(workload.program);
  return {
    metadata: {
      labels: { ...pod.labels, ...workloadLabels(workload), [networkLabel]: component },
      annotations: { ...pod.annotations, [inputsAnnotation]: writeInputs(workload.inputs) },
    },
    spec: {
      // The programs never speak to the Kubernetes API, but to read the keys of service accounts, for which the pod mounts a token
      // of its own. Workload identities of clouds bring theirs.
      automountServiceAccountToken: false,
      // Addresses of every Service of the namespace as environment variables: they slow a start, and may look like settings.
      enableServiceLinks: false,
      securityContext: podSecurityContext(pod.podSecurityContext),
      terminationGracePeriodSeconds: pod.terminationGracePeriodSeconds,
      ...(pod.serviceAccountName === undefined ? {} : { serviceAccountName: pod.serviceAccountName }),
      ...pullSecrets(pod.imagePullSecrets),
      ...defined({
        nodeSelector: pod.nodeSelector,
        tolerations: pod.tolerations,
        affinity: pod.affinity,
        topologySpreadConstraints: pod.topologySpreadConstraints,
        priorityClassName: pod.priorityClassName,
        runtimeClassName: pod.runtimeClassName,
      }),
      containers: [container(workload, context)],
      volumes: volumesOf(workload, context.files),
    },
  };
}

/** So that a pod is admitted where a quota counts requests. No limit: how much a program needs is known to who runs it. */
const standardResources: Json = { requests: { cpu: '100m', memory: '256Mi' } };

export function pullSecrets(names: readonly string[]): Readonly<Record<string, Json>> {
  return names.length === 0 ? {} : { imagePullSecrets: names.map((name) => ({ name })) };
}

function container(workload: Workload, context: ObjectContext): Json {
  const { pod } = workload.kubernetes;
  return {
    name: componentOf(workload.program),
    image: workload.image ?? context.defaultImage,
    ...(pod.imagePullPolicy === undefined ? {} : { imagePullPolicy: pod.imagePullPolicy }),
    command: [...imageCommand(workload.program)],
    args: workload.arguments.map((argument) => literal(context.resolve(argument))),
    env: workload.environment.map(({ name, value }) => ({ name, value: literal(context.resolve(value)) })),
    ports: workload.ports.map(({ name, port }) => ({ name, containerPort: port, protocol: 'TCP' })),
    resources: pod.resources ?? standardResources,
    securityContext: containerSecurityContext(pod.containerSecurityContext),
    ...probes(workload.readiness, workload.liveness),
    ...drain(workload.kubernetes.drainMs),
    // The last lines of the log tell why a program ended; the log holds no secrets.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: volumeMountsOf(workload),
  };
}

/**
 * The pod sleeps before it is told to stop: endpoints are removed meanwhile, and nobody is sent to a server that takes no more
 * connections.
 */
function drain(drainMs: number): Readonly<Record<string, Json>> {
  return drainMs > 0 ? { lifecycle: { preStop: { sleep: { seconds: Math.ceil(drainMs / 1_000) } } } } : {};
}

/** `$(NAME)` is a reference to a variable for a kubelet; what a person wrote is meant as it stands. */
function literal(value: string): string {
  return value.replaceAll('$(', '$$$$(');
}

function defined(fields: Readonly<Record<string, Json | undefined>>): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}
