import type { Program, Json, Probe, PodOptions, Workload } from '../../../contract/workload.ts';
import { writeInputs, componentOf, inputsAnnotation, networkLabel, workloadLabels } from './labels.ts';
import type { ObjectContext } from './object-context.ts';
import { volumeMountsOf, volumesOf } from './volumes.ts';

/**
 * Returns the command of a program in the image of the `Containerfile`, which has no entry point and no shell; every program is an
 * executable on its PATH. The names have no path, so that a derived image may keep them elsewhere.
 */
export function imageCommand(program: Program | 'coffer-operator'): readonly [string] {
  return [program];
}

/**
 * Probes every second: a lone server is unavailable until its first ready answer, so each second between probes extends the outage. The
 * startup probe allows ten minutes before the liveness probe counts, since a start may migrate a store.
 */
function probes(readiness: Probe, liveness: Probe): Readonly<Record<string, Json>> {
  return {
    startupProbe: { ...action(liveness), periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 600 },
    readinessProbe: { ...action(readiness), periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 3 },
    // The liveness probe is slow to fail: a restart does not help a machine under load.
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

/** The unprivileged user of the image, which no distribution uses. */
const programUser = 65_532;

/**
 * The restricted Pod Security Standard. `OnRootMismatch` avoids a walk over every file of a large volume at each start, which would keep a
 * lone server unavailable for minutes.
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

/** A null removes a field: OpenShift assigns its own users and groups and refuses others. */
function laidOver(own: Readonly<Record<string, Json>>, given: Json | undefined): Json {
  if (typeof given !== 'object' || given === null) return own;
  return Object.fromEntries(Object.entries(Object.assign({}, own, given)).filter(([, value]) => value !== null));
}

/** Makes the part of the pod that needs a new pod when it changes. */
export function podTemplate(workload: Workload, context: ObjectContext): Readonly<Record<string, Json>> {
  const { pod } = workload.kubernetes;
  const component = componentOf(workload.program);
  return {
    metadata: {
      labels: { ...pod.labels, ...workloadLabels(workload), [networkLabel]: component },
      annotations: { ...pod.annotations, [inputsAnnotation]: writeInputs(workload.inputs) },
    },
    spec: podSpec(workload, context, container(workload, context)),
  };
}

function podSpec(
  workload: Workload,
  context: ObjectContext,
  only: Readonly<Record<string, Json>>,
): Readonly<Record<string, Json>> {
  const { pod } = workload.kubernetes;
  return {
    // The programs call the Kubernetes API only to read the keys of service accounts; for that the pod mounts a token of its own.
    // Workload identities of clouds bring their own tokens.
    automountServiceAccountToken: false,
    // Environment variables with the addresses of every Service would slow the start, and may look like settings.
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
    containers: [only],
    volumes: volumesOf(workload, context.files),
  };
}

/** Makes the pod of a check: that of an instance, but it ends, and no Service or probe reaches it. */
export function checkPodSpec(workload: Workload, context: ObjectContext): Readonly<Record<string, Json>> {
  const only = {
    ...runningContainer(workload, context),
    // The check belongs to this release: a pinned image of an earlier one may not have it.
    image: context.defaultImage,
    // Small requests, so that a quota with room for instances has room for the check.
    resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } },
  };
  return { ...podSpec(workload, context, only), restartPolicy: 'Never', terminationGracePeriodSeconds: 0 };
}

/** Default requests, so that a quota that counts requests admits the pod. There is no limit: only the user knows the need. */
const standardResources: Json = { requests: { cpu: '100m', memory: '256Mi' } };

export function pullSecrets(names: readonly string[]): Readonly<Record<string, Json>> {
  return names.length === 0 ? {} : { imagePullSecrets: names.map((name) => ({ name })) };
}

function container(workload: Workload, context: ObjectContext): Readonly<Record<string, Json>> {
  return {
    ...runningContainer(workload, context),
    ports: workload.ports.map(({ name, port }) => ({ name, containerPort: port, protocol: 'TCP' })),
    ...probes(workload.readiness, workload.liveness),
  };
}

/** A container that nothing calls. */
function runningContainer(workload: Workload, context: ObjectContext): Readonly<Record<string, Json>> {
  const { pod } = workload.kubernetes;
  return {
    name: componentOf(workload.program),
    image: workload.image ?? context.defaultImage,
    ...(pod.imagePullPolicy === undefined ? {} : { imagePullPolicy: pod.imagePullPolicy }),
    command: [...imageCommand(workload.program)],
    args: workload.arguments.map((argument) => literal(context.resolve(argument))),
    env: workload.environment.map(({ name, value }) => ({ name, value: literal(context.resolve(value)) })),
    resources: pod.resources ?? standardResources,
    securityContext: containerSecurityContext(pod.containerSecurityContext),
    // The end of the log says why a program ended. The log holds no secrets.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: volumeMountsOf(workload),
  };
}

/** Escapes `$(NAME)`, which a kubelet would replace by a variable: values of the user are literal. */
function literal(value: string): string {
  return value.replaceAll('$(', '$$$$(');
}

function defined(fields: Readonly<Record<string, Json | undefined>>): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}
