import { isDeclaredKind, type ResourceReference, type RestartInput, type RestartReason } from '../workload.ts';

/** Why a workload must restart, and the field that a person changed. */
export interface Restart {
  readonly reason: RestartReason;
  /** `spec.scopes of IdentityProvider primary-iam`. */
  readonly field: string;
}

/**
 * Every reason to restart: what runs (the inputs recorded when it was started) against what is rendered now. Empty when nothing
 * that needs a restart has changed. A resource that came or went is one reason, not one for each of its fields.
 */
export function restartReasons(
  recorded: readonly RestartInput[],
  rendered: readonly RestartInput[],
  owner: ResourceReference,
): readonly Restart[] {
  const before = new Map(recorded.map((input) => [keyOf(input), input]));
  const after = new Map(rendered.map((input) => [keyOf(input), input]));
  const cameOrWent = resourcesThatCameOrWent(recorded, rendered, owner);
  const reasons: Restart[] = [...cameOrWent.values()];
  for (const key of new Set([...after.keys(), ...before.keys()])) {
    const now = after.get(key);
    const old = before.get(key);
    const input = now ?? old;
    if (input === undefined || now?.fingerprint === old?.fingerprint) continue;
    if (cameOrWent.has(resourceOf(input))) continue;
    // What is named or no longer named goes with the field that names it.
    if ((input.of.kind === 'Secret' || input.of.kind === 'ConfigMap') && (now === undefined || old === undefined))
      continue;
    reasons.push({ reason: input.reason, field: describe(input) + change(old, now) });
  }
  return reasons;
}

/** `IdentityProviderChanged: spec.scopes of IdentityProvider primary-iam`. */
export function describeRestarts(restarts: readonly Restart[]): string {
  return restarts.map(({ reason, field }) => `${reason}: ${field}`).join('; ');
}

function resourcesThatCameOrWent(
  recorded: readonly RestartInput[],
  rendered: readonly RestartInput[],
  owner: ResourceReference,
): ReadonlyMap<string, Restart> {
  const own = resourceOf({ of: owner });
  const before = new Map(recorded.map((input) => [resourceOf(input), input.of]));
  const after = new Map(rendered.map((input) => [resourceOf(input), input.of]));
  const found = new Map<string, Restart>();
  for (const [resource, of] of new Map([...before, ...after])) {
    if (resource === own || (before.has(resource) && after.has(resource))) continue;
    const { kind, name } = of;
    // A Secret or a ConfigMap comes and goes with the field that names it; nothing runs with what is in a server.
    if (kind === 'Secret' || kind === 'ConfigMap' || isDeclaredKind(kind)) continue;
    found.set(resource, { reason: `${kind}${after.has(resource) ? 'Added' : 'Removed'}`, field: `${kind} ${name}` });
  }
  return found;
}

function keyOf(input: RestartInput): string {
  return `${input.field} ${resourceOf(input)}`;
}

function resourceOf({ of }: Pick<RestartInput, 'of'>): string {
  return `${of.kind}/${of.name}`;
}

/** ` (coffer:1 to coffer:2)`, where both values may be told. */
function change(old: RestartInput | undefined, now: RestartInput | undefined): string {
  return old?.shown === undefined || now?.shown === undefined ? '' : ` (${old.shown} to ${now.shown})`;
}

function describe({ field, of }: RestartInput): string {
  return `${field} of ${of.kind} ${of.name}`;
}
