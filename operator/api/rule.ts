/**
 * One rule of a resource in two forms: as CEL, which the API server enforces, and as a function, which the local runtime and the reconciler
 * enforce. Both run on the spec with its defaults, and are tested with the same cases.
 *
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules
 */
export interface Rule<Spec> {
  readonly cel: string;
  readonly message: string;
  /** The field that the user should check first, e.g. `spec.configUrl`. */
  readonly field: string;
  /**
   * The message of a rule that only the API server enforces: the local runtime does not need it, or reports the problem better. A resource
   * from before the rule stays valid until its next edit.
   */
  readonly only?: 'api-server';
  readonly holds: (spec: Spec) => boolean;
}

/** A rule for a change. The API server applies it only to updates. */
export interface TransitionRule<Spec> {
  readonly cel: string;
  readonly message: string;
  readonly field: string;
  readonly holds: (spec: Spec, old: Spec) => boolean;
}

export interface Rules<Spec> {
  readonly always: readonly Rule<Spec>[];
  readonly onChange: readonly TransitionRule<Spec>[];
}

export interface Broken {
  readonly field: string;
  readonly message: string;
}

export function brokenRules<Spec>(
  rules: Rules<Spec>,
  spec: Spec,
  old: Spec | undefined,
  asApiServer = false,
): readonly Broken[] {
  const broken: Broken[] = [];
  for (const { field, message, only, holds } of rules.always) {
    if ((only === undefined || asApiServer) && !holds(spec)) broken.push({ field, message });
  }
  if (old === undefined) return broken;
  for (const { field, message, holds } of rules.onChange) if (!holds(spec, old)) broken.push({ field, message });
  return broken;
}

/** Returns the rules in the form of a CRD. The API server refuses a CRD with a `fieldPath` that its schema does not have. */
export function celValidations<Spec>(rules: Rules<Spec>): { rule: string; message: string; fieldPath: string }[] {
  return [...rules.always, ...rules.onChange].map(({ cel, message, field }) => ({
    rule: cel,
    message,
    fieldPath: field.slice('spec'.length),
  }));
}

/** Returns the number of optional fields that are set. */
export function given(...values: readonly unknown[]): number {
  return values.filter((value) => value !== undefined).length;
}

/** Returns `given` in CEL for the paths of fields. */
export function celGiven(...fields: readonly string[]): string {
  return fields.map((field) => `(has(${field}) ? 1 : 0)`).join(' + ');
}
