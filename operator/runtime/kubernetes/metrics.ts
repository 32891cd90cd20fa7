import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { droppedLogLines, droppedLogLinesHelp } from '../../../platform/output/log-output.ts';
import type { ResourceStatus } from '../../reconcile/conditions.ts';
import type { RolloutCounters } from '../../reconcile/reconciler-options.ts';
import { blockerReasons, type BlockerReason } from '../../reconcile/rollout.ts';
import { resourceKinds, type ResourceKind } from '../../contract/workload.ts';
import type { CertificateExpiry } from './certificates/certificate-keeper.ts';

/** A resource of the cluster with its status. */
export interface ObservedResource {
  readonly namespace: string;
  readonly kind: ResourceKind;
  readonly name: string;
  readonly status: ResourceStatus | undefined;
}

/** The values that are read when a client asks for the metrics. */
export interface MetricSources {
  readonly queueDepth: () => number;
  readonly leads: () => boolean;
  readonly resources: () => readonly ObservedResource[];
  readonly certificateExpiries: () => readonly (CertificateExpiry & { readonly namespace: string })[];
}

/** The operator's metrics in the text format of Prometheus. The dashboard and the alerts of the chart depend on their names. */
export class OperatorMetrics implements RolloutCounters {
  readonly #registry = new Registry();
  readonly #reconciles = new Counter({
    name: 'coffer_operator_reconcile_total',
    help: 'Reconciles by kind of resource and result',
    labelNames: ['kind', 'result'],
    registers: [this.#registry],
  });
  readonly #durations = new Histogram({
    name: 'coffer_operator_reconcile_duration_seconds',
    help: 'Duration of reconciles by kind of resource',
    labelNames: ['kind'],
    buckets: [0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60],
    registers: [this.#registry],
  });
  readonly #rollouts = new Counter({
    name: 'coffer_operator_rollouts_total',
    help: 'Rollouts that were begun, by reason',
    labelNames: ['reason'],
    registers: [this.#registry],
  });
  readonly #blocks = new Counter({
    name: 'coffer_operator_rollout_blocks_total',
    help: 'Times that a rollout began to wait, by the reason',
    labelNames: ['blocker'],
    registers: [this.#registry],
  });
  readonly #watchRestarts = new Counter({
    name: 'coffer_operator_watch_restarts_total',
    help: 'Lists that failed and watches that broke, by type of resource',
    labelNames: ['resource'],
    registers: [this.#registry],
  });

  constructor(sources: MetricSources) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    for (const result of ['success', 'error']) {
      for (const kind of resourceKinds) this.#reconciles.inc({ kind, result }, 0);
    }
    // oxlint-disable-next-line no-new -- a gauge lives in its registry
    new Gauge({
      name: 'coffer_operator_queue_depth',
      help: 'Resources that wait for a reconcile or are being reconciled',
      registers,
      collect() {
        this.set(sources.queueDepth());
      },
    });
    // oxlint-disable-next-line no-new -- a counter lives in its registry
    new Counter({
      name: 'coffer_operator_log_lines_dropped_total',
      help: droppedLogLinesHelp,
      registers,
      collect() {
        this.reset();
        this.inc(droppedLogLines());
      },
    });
    // oxlint-disable-next-line no-new -- a gauge lives in its registry
    new Gauge({
      name: 'coffer_operator_leader',
      help: '1 when this process is the leader',
      registers,
      collect() {
        this.set(sources.leads() ? 1 : 0);
      },
    });
    // oxlint-disable-next-line no-new -- a gauge lives in its registry
    new Gauge({
      name: 'coffer_operator_rollouts_blocked',
      help: 'Workloads that need a restart and wait, by the reason',
      labelNames: ['blocker'],
      registers,
      collect() {
        const counts = blockedByReason(sources.resources().map(({ status }) => status));
        for (const blocker of blockerReasons) this.set({ blocker }, counts.get(blocker) ?? 0);
      },
    });
    // oxlint-disable-next-line no-new -- a gauge lives in its registry
    new Gauge({
      name: 'coffer_operator_resource_ready',
      help: '1 when the condition Ready of a resource is True',
      labelNames: ['namespace', 'kind', 'name'],
      registers,
      collect() {
        this.reset();
        for (const { namespace, kind, name, status } of sources.resources()) {
          const ready = status?.conditions.some(({ type, status: holds }) => type === 'Ready' && holds === 'True');
          this.set({ namespace, kind, name }, ready === true ? 1 : 0);
        }
      },
    });
    // oxlint-disable-next-line no-new -- a gauge lives in its registry
    new Gauge({
      name: 'coffer_operator_certificate_expiry_timestamp_seconds',
      help: 'Time at which a certificate expires',
      labelNames: ['namespace', 'kind', 'name'],
      registers,
      collect() {
        this.reset();
        for (const { namespace, kind, name, notAfter } of sources.certificateExpiries()) {
          this.set({ namespace, kind, name }, Math.floor(notAfter.getTime() / 1000));
        }
      },
    });
  }

  reconciled(kind: ResourceKind, result: 'success' | 'error', seconds: number): void {
    this.#reconciles.inc({ kind, result });
    this.#durations.observe({ kind }, seconds);
  }

  rollout(reason: string): void {
    this.#rollouts.inc({ reason });
  }

  blocked(blocker: BlockerReason): void {
    this.#blocks.inc({ blocker });
  }

  watchRestarted(resource: string): void {
    this.#watchRestarts.inc({ resource });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }
}

/** Counts statuses by the reason of their condition RolloutBlocked. */
export function blockedByReason(statuses: readonly (ResourceStatus | undefined)[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const status of statuses) {
    const blocked = status?.conditions.find(({ type }) => type === 'RolloutBlocked');
    if (blocked?.status === 'True') counts.set(blocked.reason, (counts.get(blocked.reason) ?? 0) + 1);
  }
  return counts;
}
