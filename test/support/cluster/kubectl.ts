import { tool, runCommand, type CommandResult } from '../process/run-command.ts';

/** Any object of the cluster, as JSON. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly generation?: number;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>> & { readonly conditions?: readonly Condition[] };
  /** Of a Secret or ConfigMap. */
  readonly data?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** kubectl of the cluster, as its administrator. */
export class Kubectl {
  readonly kubeconfig: string;

  constructor(kubeconfig: string) {
    this.kubeconfig = kubeconfig;
  }

  /** Answers with whatever comes of it, errors included. */
  attempt(args: readonly string[], input?: string, timeoutMs = 360_000): Promise<CommandResult> {
    return runCommand(tool('kubernetes/kubectl', 'kubernetes'), args, {
      env: { KUBECONFIG: this.kubeconfig },
      timeoutMs,
      ...(input === undefined ? {} : { input }),
    });
  }

  async run(args: readonly string[], input?: string): Promise<string> {
    const { code, stdout, stderr } = await this.attempt(args, input);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} exited with ${code}: ${stderr}`);
    return stdout;
  }

  /** As a person or GitOps does: server-side, under a field manager of its own. */
  async apply(...objects: readonly object[]): Promise<void> {
    const list = { apiVersion: 'v1', kind: 'List', items: objects };
    await this.run(
      ['apply', '--server-side', '--field-manager=test', '--force-conflicts', '-f', '-'],
      JSON.stringify(list),
    );
  }

  async get(kind: string, name: string, namespace?: string): Promise<KubernetesObject | undefined> {
    const where = namespace === undefined ? [] : ['--namespace', namespace];
    const text = await this.run(['get', kind, name, ...where, '--ignore-not-found', '--output', 'json']);
    return text === '' ? undefined : (JSON.parse(text) as KubernetesObject);
  }

  async list(kind: string, namespace: string, selector?: string): Promise<readonly KubernetesObject[]> {
    const by = selector === undefined ? [] : ['--selector', selector];
    const text = await this.run(['get', kind, '--namespace', namespace, ...by, '--output', 'json']);
    return (JSON.parse(text) as { items: readonly KubernetesObject[] }).items;
  }

  /** What is at fault, for the message of a test that waited in vain. */
  async describe(namespace: string): Promise<string> {
    const shown = await Promise.all([
      this.attempt([
        'get',
        'tenants,identityproviders,kmsconfigs,buckets,statefulsets,pods',
        '--namespace',
        namespace,
        '-o',
        'wide',
      ]),
      this.attempt(['get', 'events', '--namespace', namespace, '--sort-by', '.lastTimestamp']),
      this.attempt([
        'logs',
        '--namespace',
        'coffer-operator',
        '--selector',
        'app.kubernetes.io/name=coffer-operator',
        '--tail',
        '20',
      ]),
    ]);
    return shown.map(({ stdout, stderr }) => stdout.split('\n').slice(-25).join('\n') + stderr).join('\n');
  }
}
