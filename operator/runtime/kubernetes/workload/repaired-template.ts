import type { Cache, KubeObject } from '../../../kube-client/kube-api.ts';
import { restartReasons } from '../../../reconcile/rollout.ts';
import type { Workload } from '../../../contract/workload.ts';
import { driftedAnnotation, inputsAnnotation, readInputs, templateAnnotation } from '../objects/labels.ts';
import type { ObjectContext } from '../objects/object-context.ts';
import { newTemplate, statefulSet, type KeptTemplate } from '../objects/stateful-set.ts';
import { driftOf, templateDifferences, type Drift } from './drift.ts';
import { admittedPaths, immutableParts, liveTemplate, statefulSetView } from './live-workload.ts';
import { keyOf, type ObjectWriter } from './object-writer.ts';
import type { ClusterRules } from './cluster-rules.ts';

/** Pods of older revisions are gone long ago. */
const maxRevisions = 10;

interface RepairOptions {
  readonly writer: ObjectWriter;
  readonly caches: { readonly statefulSets: Cache };
  readonly rules: ClusterRules;
  /** Called after a manual change was found that has no owner. */
  readonly drifted?: (object: KubeObject, drift: Drift) => void;
}

/** The difference of a live template from the one that the operator renders from the same inputs. */
interface Difference {
  readonly rendered: KeptTemplate;
  /** The StatefulSet with the rendered template. */
  readonly wanted: KubeObject;
  /** A change by other field managers; undefined where it is not in the template. */
  readonly edit: Drift | undefined;
  /** Paths that differ, including those that the operator itself wrote. */
  readonly lacking: readonly string[];
}

/** Returns undefined where nothing differs. */
function differenceOf(
  workload: Workload,
  live: KubeObject,
  admitted: readonly string[],
  context: ObjectContext,
): Difference | undefined {
  const kept = liveTemplate(live);
  const rendered = newTemplate(workload, context);
  const wanted = statefulSet(workload, context, { immutable: immutableParts(live), template: rendered, admitted });
  const isSameRendering = kept.annotations[templateAnnotation] === rendered.annotations[templateAnnotation];
  const lacking = isSameRendering ? templateDifferences(kept.template, rendered.template) : [];
  const drift = driftOf(live, wanted);
  const edit = drift?.paths.some((path) => path.startsWith('spec.template.')) === true ? drift : undefined;
  return edit === undefined && lacking.length === 0 ? undefined : { rendered, wanted, edit, lacking };
}

/**
 * Returns the rendered template when the live one was changed manually. It keeps the revision of the change, so that pods of it are
 * replaced. What the cluster itself changes again is no such change: then no pod is replaced. Answers undefined where nothing is to be repaired.
 */
export async function repairedTemplate(
  workload: Workload,
  live: KubeObject,
  context: ObjectContext,
  options: RepairOptions,
): Promise<KeptTemplate | undefined> {
  const { drifted, rules } = options;
  rules.forgetLeft(keyOf(live));
  rules.adoptAdmitted(keyOf(live), admittedPaths(live));
  // Another restart renders the template, too.
  if (isOutdated(workload, live)) return undefined;
  const difference = differenceOf(workload, live, rules.admittedPaths(keyOf(live)), context);
  if (difference === undefined) {
    rules.forgetAdmitted(keyOf(live));
    return undefined;
  }
  const { rendered, edit } = difference;
  const kept = liveTemplate(live);
  const decision = edit === undefined ? 'repair' : rules.decide(keyOf(live), edit);
  if (edit !== undefined && decision === 'leave') {
    rules.recordLeft(keyOf(live), edit);
    return kept;
  }
  const { status } = statefulSetView(live);
  const { updateRevision } = status;
  // The revision of the change is not known yet. The status has it soon, and leads to the next reconcile.
  if (updateRevision !== undefined && status.observedGeneration !== live.metadata.generation) return undefined;
  const before = kept.annotations[driftedAnnotation]?.split(',') ?? [];
  if (edit === undefined) {
    if (await isClusterRule(difference, options)) return withDrifted(rendered, before);
    drifted?.(live, { managers: [], paths: ['spec.template'], patch: {} });
  }
  if (updateRevision === undefined) return rendered;
  // Pods of a change that comes again are not replaced again.
  const others = before.filter((revision) => revision !== updateRevision);
  return withDrifted(rendered, decision === 'repair again' ? others : [...others, updateRevision].slice(-maxRevisions));
}

function isOutdated({ inputs, owner }: Workload, live: KubeObject): boolean {
  const recorded = readInputs(statefulSetView(live).spec.template.metadata.annotations[inputsAnnotation]) ?? [];
  return restartReasons(recorded, inputs, owner).length > 0;
}

function withDrifted(template: KeptTemplate, revisions: readonly string[]): KeptTemplate {
  if (revisions.length === 0) return template;
  return { ...template, annotations: { ...template.annotations, [driftedAnnotation]: revisions.join(',') } };
}

/**
 * Reports whether the cluster itself makes the template differ from the rendered one, as an admission policy does: what was just sent comes back
 * with all the differences. The same answer is not asked for twice.
 */
async function isClusterRule(
  { wanted, rendered, lacking }: Difference,
  { writer, caches, rules }: RepairOptions,
): Promise<boolean> {
  const rendering = rendered.annotations[templateAnnotation] ?? '';
  if (rules.admits(keyOf(wanted), rendering, lacking)) return true;
  const wasBefore = rules.admitted(keyOf(wanted), lacking);
  const answer = await writer.send(wanted, caches.statefulSets);
  const still = templateDifferences(liveTemplate(answer).template, rendered.template);
  rules.recordAdmitted(keyOf(wanted), rendering, still);
  return wasBefore || lacking.every((path) => still.includes(path));
}
