import type { Declared } from '../api/object.ts';
import { notReady, ready } from '../reconcile/conditions.ts';
import type {
  DeclaredContext,
  DeclaredController,
  DeclaredOutcome,
  DeclaredStatus,
} from '../reconcile/declared-controller.ts';
import { explainFailure } from './explain-failure.ts';
import type { DeclaredProblem } from './tenant-refusal.ts';

export interface ControllerOptions {
  /** Told what was changed in a tenant, for an event: each time somebody's change by hand was undone, too. */
  readonly onChanged?: (resource: Declared, differences: readonly string[]) => void;
  readonly now?: () => Date;
  /** Below 1: spreads the looks at many resources. */
  readonly random?: () => number;
}

/** One thing to do in a tenant; `difference` tells a person why, without secrets. */
export interface DeclaredChange {
  readonly difference: string;
  /** That an earlier one failed is no reason to leave it. */
  readonly independent?: true;
  make(): Promise<unknown>;
}

/** What a kind of resource is in a tenant's server: all that differs between kinds. */
export interface DeclaredKindOptions<Resource extends Declared> {
  /** `the bucket "photos"` */
  readonly describe: (resource: Resource) => string;
  /** What makes the thing as the resource says, in this order. Errors as `make`, and with `DeclaredProblem`. */
  readonly changes: (
    resource: Resource,
    context: DeclaredContext,
    now: () => Date,
  ) => Promise<readonly DeclaredChange[]>;
  /** When the changes are made. */
  readonly status: (resource: Resource, context: DeclaredContext) => DeclaredStatus;
  /** Resolves where there is none; with a problem where the thing has to stay for now. */
  readonly remove: (
    resource: Resource,
    context: DeclaredContext,
    now: () => Date,
  ) => Promise<DeclaredProblem | undefined>;
}

/** Milliseconds between looks at what is as it should be; up to a fifth more, at random. */
const lookEvery = 240_000;
/** Milliseconds until what has to stay for now is tried again. */
const removeAgainMs = 60_000;

/** Makes what is in tenants' servers what resources of one kind say: finds what differs, changes that, and says what it could not. */
export function createController<Resource extends Declared>(
  kind: DeclaredKindOptions<Resource>,
  options: ControllerOptions = {},
): DeclaredController<Resource> {
  const { now = () => new Date(), random = Math.random } = options;
  const settled = (): number => Math.round(lookEvery * (1 + random() / 5));

  return {
    async reconcile(resource, context): Promise<DeclaredOutcome> {
      const what = kind.describe(resource);
      const tenant = context.access.tenant.metadata.name;
      const made: string[] = [];
      let failure: { readonly error: unknown; readonly doing: string } | undefined;
      try {
        for (const change of await kind.changes(resource, context, now)) {
          if (failure !== undefined && change.independent !== true) continue;
          try {
            await change.make();
            made.push(change.difference);
          } catch (error) {
            failure ??= { error, doing: `${change.difference}, which cannot be changed` };
          }
        }
      } catch (error) {
        failure = { error, doing: `${what} cannot be read` };
      } finally {
        if (made.length > 0) options.onChanged?.(resource, made);
      }
      if (failure !== undefined) return explainFailure(failure.error, tenant, failure.doing);
      return {
        findings: [ready(`${what} of tenant "${tenant}" is as it should be`)],
        afterMs: settled(),
        status: kind.status(resource, context),
      };
    },

    async remove(resource, context) {
      const done = { done: true, findings: [], afterMs: 0 } as const;
      // With its tenant gone there is nobody to ask, and a namespace that is deleted must not wait.
      if (resource.spec.deletionPolicy === 'Retain' || context === undefined) return done;
      try {
        const stays = await kind.remove(resource, context, now);
        if (stays === undefined) return done;
        return { done: false, findings: [notReady(stays.reason, stays.message)], afterMs: removeAgainMs };
      } catch (error) {
        const doing = `${kind.describe(resource)} cannot be deleted`;
        return { done: false, ...explainFailure(error, context.access.tenant.metadata.name, doing) };
      }
    },
  };
}
