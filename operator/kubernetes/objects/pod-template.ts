import type { Json, Workload } from '../../workload.ts';
import { imageCommand } from '../image-command.ts';
import { writeInputs } from './inputs-annotation.ts';
import { componentOf, inputsAnnotation, networkLabel, workloadLabels } from './labels.ts';
import type { ObjectContext } from './object-context.ts';
import { probes } from './probes.ts';
import { containerSecurityContext, podSecurityContext } from './security-context.ts';
import { volumeMountsOf, volumesOf } from './volumes.ts';

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
