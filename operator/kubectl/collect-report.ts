import { stringify } from 'yaml';
import type { KubeObject } from '../kube/kube-api.ts';
import { resourceTypes } from '../kube/resource-types.ts';
import { managedSelector } from '../kubernetes/objects/labels.ts';
import { listIfAllowed, type Cluster } from './cluster.ts';
import { isSettled, observe, statusOf } from './collect-status.ts';
import { printStatus } from './print-status.ts';
import { redactObject, secretStriker } from './redact-report.ts';

export interface ReportOptions {
  readonly namespace: string;
  readonly now: Date;
  /** Lines of each log. */
  readonly tailLines: number;
  /** Version of the plugin. */
  readonly version: string;
}

type TypeName = keyof typeof resourceTypes;

const custom: readonly TypeName[] = [
  'tenant',
  'kmsConfig',
  'identityProvider',
  'bucket',
  'policy',
  'policyBinding',
  'user',
  'accessKey',
];
const made: readonly TypeName[] = [
  'statefulSet',
  'pod',
  'service',
  'persistentVolumeClaim',
  'podDisruptionBudget',
  'networkPolicy',
  'ingress',
  'serviceMonitor',
  'certificate',
];
const operatorSelector = 'app.kubernetes.io/name=coffer-operator';

/**
 * The files of a support bundle, by path. Nothing of a Secret's values is in them: of Secrets only names and the names of keys, and
 * whatever value of theirs stands elsewhere, a log above all, is struck out. What cannot be read is told in `problems.txt`.
 */
export async function collectReport(cluster: Cluster, options: ReportOptions): Promise<ReadonlyMap<string, string>> {
  const { namespace, now } = options;
  const problems: string[] = [];
  const files = new Map<string, string>();
  const list = (type: TypeName, labelSelector?: string, everywhere = false) =>
    listIfAllowed(
      cluster,
      resourceTypes[type],
      {
        ...(everywhere ? {} : { namespace }),
        ...(labelSelector === undefined ? {} : { labelSelector }),
      },
      (problem) => problems.push(problem),
    );
  // All Secrets of the namespace, since a log may hold the value of any; that needs a permission that few have, and is told if not.
  const secrets = await list('secret');
  if (problems.length > 0)
    problems.push('values of Secrets are not known here, and were not struck out of logs: look for them');
  const strike = secretStriker(secrets);
  const add = (path: string, text: string) => files.set(path, strike(text));
  const addObject = (object: KubeObject) => {
    const folder = object.metadata.namespace ?? 'cluster';
    add(`resources/${folder}/${object.kind}-${object.metadata.name}.yaml`, stringify(redactObject(object)));
  };

  const observed = await observe(cluster, namespace);
  problems.push(...observed.missed);
  const status = statusOf(observed);
  add('status.txt', printStatus(status, now));
  add('status.json', JSON.stringify(status, undefined, 2));
  for (const type of custom) for (const object of await list(type)) addObject(object);
  for (const type of made) for (const object of await list(type, managedSelector)) addObject(object);
  for (const object of secrets) addObject(object);
  add('events.yaml', stringify(observed.events.map(redactObject)));

  const operators = await list('pod', operatorSelector, true);
  for (const object of [...(await list('deployment', operatorSelector, true)), ...operators]) addObject(object);
  for (const pod of [...observed.pods, ...operators]) {
    for (const [path, text] of await logsOf(cluster, pod, options.tailLines, (problem) => problems.push(problem))) {
      add(path, text);
    }
  }
  add('versions.txt', versions(options, [...observed.pods, ...operators], isSettled(status)));
  add('problems.txt', problems.length === 0 ? 'none\n' : `${[...new Set(problems)].join('\n')}\n`);
  return files;
}

async function logsOf(
  cluster: Cluster,
  pod: KubeObject,
  tailLines: number,
  missed: (problem: string) => void,
): Promise<readonly [string, string][]> {
  const { name, namespace = '' } = pod.metadata;
  const { containers = [] } = (pod['spec'] ?? {}) as { readonly containers?: readonly { readonly name: string }[] };
  const { containerStatuses = [] } = (pod['status'] ?? {}) as {
    readonly containerStatuses?: readonly { readonly name: string; readonly restartCount?: number }[];
  };
  const logs: [string, string][] = [];
  for (const { name: container } of containers) {
    const restarted = containerStatuses.some((status) => status.name === container && (status.restartCount ?? 0) > 0);
    for (const previous of restarted ? [false, true] : [false]) {
      try {
        const text = await cluster.log(namespace, name, { container, tailLines, previous });
        logs.push([`logs/${namespace}/${name}-${container}${previous ? '-previous' : ''}.log`, text]);
      } catch (error) {
        missed(`log of ${namespace}/${name} ${container}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
  return logs;
}

function versions({ now, version, namespace }: ReportOptions, pods: readonly KubeObject[], settled: boolean): string {
  const images = new Set(
    pods.flatMap((pod) => {
      const { containers = [] } = (pod['spec'] ?? {}) as {
        readonly containers?: readonly { readonly image?: string }[];
      };
      const { containerStatuses = [] } = (pod['status'] ?? {}) as {
        readonly containerStatuses?: readonly { readonly imageID?: string }[];
      };
      return [...containers.map(({ image }) => image), ...containerStatuses.map(({ imageID }) => imageID)];
    }),
  );
  return [
    `made at      ${now.toISOString()}`,
    `namespace    ${namespace}${settled ? ' (all ready)' : ' (not all ready)'}`,
    `kubectl-coffer ${version}, Node ${process.versions.node}`,
    ...[...images].filter((image) => image !== undefined && image !== '').map((image) => `image        ${image}`),
    '',
  ].join('\n');
}
