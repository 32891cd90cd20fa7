import { redactText } from '../../platform/output/redact-secrets.ts';
import type { KubeObject } from '../kube-client/kube-api.ts';
import { stringify } from 'yaml';
import { resourceTypes } from '../kube-client/resource-types.ts';
import { managedSelector } from '../runtime/kubernetes/objects/labels.ts';
import { listIfAllowed, type Cluster } from './cluster.ts';
import { isSettled, observe, statusOf } from './collect-status.ts';
import { printStatus } from './print-status.ts';

const hidden = '[redacted]';

/** Names of fields and settings whose plain values may be secrets. */
const secretName = /secret|password|token|access_?key|api_?key|private_?key|credential/i;

/** Shorter values are ordinary words, which would be redacted everywhere. */
const minSecretLength = 8;

/**
 * Makes a function that redacts the values of Secrets in any text: plain, in base64, and escaped as in a URL or in JSON. The values stay in
 * memory and are never written.
 */
export function secretRedactor(secrets: readonly KubeObject[]): (text: string) => string {
  const values = new Set<string>();
  for (const secret of secrets) {
    for (const [key, encoded] of Object.entries((secret['data'] ?? {}) as Readonly<Record<string, string>>)) {
      // Certificates are public, and their names are in the report.
      if (key.endsWith('.crt')) continue;
      const value = Buffer.from(encoded, 'base64').toString('utf8').trim();
      if (value.length < minSecretLength) continue;
      for (const form of [value, encoded, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]) {
        values.add(form);
      }
    }
  }
  // The longest value comes first, so that no part of it remains.
  const ordered = [...values].sort((a, b) => b.length - a.length);
  return (text) => ordered.reduce((clean, value) => clean.replaceAll(value, hidden), redactLog(text));
}

/** Redacts text in a log that looks like a secret: access keys too, which programs may log. */
export function redactLog(text: string): string {
  return redactText(text)
    .replace(/\b(Credential=)[^/\s&,"]+/gi, `$1${hidden}`)
    .replace(
      /("\w*(?:secret|password|token|(?:access|api|private)_?key|key_?id)"\s*:\s*)"(?:[^"\\]|\\.)*"/gi,
      `$1"${hidden}"`,
    )
    .replace(/\b(\w*(?:secret|password|token|(?:access|api|private)_?key)=)[^\s,;&"']+/gi, `$1${hidden}`);
}

/** Returns an object without data that a report must not have. A Secret keeps only its type and the names of its keys. */
export function redactObject(object: KubeObject): unknown {
  const { metadata, ...rest } = object;
  const {
    managedFields: _managedFields,
    annotations,
    ...kept
  } = metadata as typeof metadata & {
    readonly managedFields?: unknown;
  };
  // The annotation repeats the whole object, and for Secrets their values.
  const { 'kubectl.kubernetes.io/last-applied-configuration': _repeated, ...others } = annotations ?? {};
  const clean = { ...kept, ...(annotations === undefined ? {} : { annotations: redactValue('', others) }) };
  if (object.kind === 'Secret') {
    const keys = Object.keys(object['data'] ?? {}).sort();
    return { apiVersion: object.apiVersion, kind: 'Secret', metadata: clean, type: object['type'], keys };
  }
  return { ...(redactValue('', rest) as object), metadata: clean };
}

function redactValue(name: string, value: unknown): unknown {
  if (typeof value === 'string') return isSecretField(name) ? hidden : redactLog(value);
  if (Array.isArray(value)) return value.map((item) => redactValue('', item));
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  // Settings and environment variables: { name, value }.
  const named = typeof fields['name'] === 'string' && secretName.test(fields['name']);
  return Object.fromEntries(
    Object.entries(fields).map(([key, inner]) => [
      key,
      named && key === 'value' && typeof inner === 'string' ? hidden : redactValue(key, inner),
    ]),
  );
}

/** `password: x` is a secret; `secretName: x` and `clientSecretRef: {…}` only name one. */
function isSecretField(name: string): boolean {
  return (
    secretName.test(name) &&
    !/(name|ref|path|key|file|policy)$/i.test(name.replace(/(access|api|private|secret)_?key$/i, ''))
  );
}

interface ReportOptions {
  readonly namespace: string;
  readonly now: Date;
  /** Number of lines of each log. */
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
 * Collects the files of a support bundle, by path. It has no values of Secrets: only their names and the names of their keys. Their values
 * are redacted wherever else they appear, mainly in logs. `problems.txt` lists what could not be read.
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
        labelSelector,
      },
      (issue) => problems.push(issue),
    );
  // All Secrets of the namespace are read, since a log may have the value of any. Few users may do that; otherwise the report says so.
  const secrets = await list('secret');
  if (problems.length > 0)
    problems.push('values of Secrets are not known here, and were not struck out of logs: look for them');
  const strike = secretRedactor(secrets);
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
    for (const [path, text] of await logsOf(cluster, pod, options.tailLines, (issue) => problems.push(issue))) {
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
  missed: (issue: string) => void,
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
