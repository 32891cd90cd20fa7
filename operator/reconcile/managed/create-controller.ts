import { notReady, reconciling, stalled, ready } from '../conditions.ts';
import type { ManagedResult, ManagedContext, ManagedController, ManagedStatus } from './controller.ts';
import { DeclaredProblem, TenantRefusal, TenantUnreachable } from './signed-request.ts';
import type { ManagedResource } from '../../api/object.ts';

/** Whether two values are the same document; the order of fields does not count, that of lists does. */
export function sameDocument(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return entries.sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, field]) => [name, sorted(field)]);
}

/** Milliseconds until the next try: soon where it may pass by itself, later where a person must act. */
const retryAfter = { passing: 15_000, person: 120_000 } as const;

const passingStatus = new Set([408, 409, 429]);
const credentialCodes = new Set(['AccessDenied', 'InvalidAccessKeyId', 'SignatureDoesNotMatch']);

/** Reasons by the server's code, where a person has something of the resource to mend. */
const reasons: Readonly<Record<string, string>> = {
  MalformedPolicy: 'InvalidPolicy',
  InvalidTag: 'InvalidTags',
  InvalidBucketName: 'InvalidBucketName',
  'KMS.NotFoundException': 'KeyNotFound',
  BucketNotEmpty: 'BucketNotEmpty',
  XMinioMalformedIAMPolicy: 'InvalidPolicy',
  XMinioAdminAccessKeyInUse: 'AccessKeyTaken',
  XMinioAdminInvalidAccessKey: 'InvalidAccessKey',
  XMinioAdminInvalidSecretKey: 'InvalidSecretKey',
};

/** What is missing may be on its way: another resource makes it, or a person does. */
const awaited: Readonly<Record<string, string>> = {
  XMinioAdminNoSuchPolicy: 'PolicyNotFound',
  XMinioAdminNoSuchUser: 'UserNotFound',
  XMinioAdminNoSuchGroup: 'GroupNotFound',
  XMinioAdminPolicyInUse: 'PolicyInUse',
};

/** The conditions of a pass that failed; `doing` says at what: `the policy differs and cannot be set`. Rethrows what is no answer of the server. */
function explainFailure(error: unknown, tenant: string, doing: string): ManagedResult {
  if (error instanceof TenantUnreachable) {
    const message = `the tenant "${tenant}" cannot be reached: ${error.message}`;
    return passing('TenantUnreachable', message);
  }
  if (error instanceof DeclaredProblem) return forPerson(error.reason, error.message);
  if (!(error instanceof TenantRefusal)) throw error;
  if (credentialCodes.has(error.code)) {
    const message = `the tenant "${tenant}" refuses its root credentials (${error.code}): it has not taken up those of its Secret yet, or they were changed in it by hand`;
    return passing('CredentialsRefused', message);
  }
  const message = `${doing}: ${error.message} (${error.code})`;
  const awaitedReason = awaited[error.code];
  if (awaitedReason !== undefined) return passing(awaitedReason, message);
  const reason = reasons[error.code];
  if (reason === undefined && (error.status >= 500 || passingStatus.has(error.status)) && error.status !== 501) {
    return passing('TenantUnavailable', message);
  }
  return forPerson(reason ?? 'RefusedByTenant', message);
}

function forPerson(reason: string, message: string): ManagedResult {
  return { conditions: [notReady(reason, message), stalled(reason, message)], afterMs: retryAfter.person };
}

function passing(reason: string, message: string): ManagedResult {
  return { conditions: [notReady(reason, message), reconciling(reason, message)], afterMs: retryAfter.passing };
}

export interface ControllerOptions {
  /** Told what was changed in a tenant, for an event: each time somebody's change by hand was undone, too. */
  readonly onChanged?: (resource: ManagedResource, differences: readonly string[]) => void;
  readonly now?: () => Date;
  /** Below 1: spreads the looks at many resources. */
  readonly random?: () => number;
}

/** One thing to do in a tenant; `difference` tells a person why, without secrets. */
export interface ManagedChange {
  readonly difference: string;
  /** That an earlier one failed is no reason to leave it. */
  readonly independent?: true;
  make(): Promise<unknown>;
}

/** What a kind of resource is in a tenant's server: all that differs between kinds. */
interface ManagedKindOptions<Resource extends ManagedResource> {
  /** `the bucket "photos"` */
  readonly describe: (resource: Resource) => string;
  /** What makes the thing as the resource says, in this order. Errors as `make`, and with `DeclaredProblem`. */
  readonly changes: (resource: Resource, context: ManagedContext, now: () => Date) => Promise<readonly ManagedChange[]>;
  /** When the changes are made. */
  readonly status: (resource: Resource, context: ManagedContext) => ManagedStatus;
  /** Resolves where there is none; with a problem where the thing has to stay for now. */
  readonly remove: (
    resource: Resource,
    context: ManagedContext,
    now: () => Date,
  ) => Promise<DeclaredProblem | undefined>;
}

/** Milliseconds between looks at what is as it should be; up to a fifth more, at random. */
const resyncMs = 240_000;
/** Milliseconds until what has to stay for now is tried again. */
const removeRetryMs = 60_000;

/** Makes what is in tenants' servers what resources of one kind say: finds what differs, changes that, and says what it could not. */
export function createController<Resource extends ManagedResource>(
  kind: ManagedKindOptions<Resource>,
  options: ControllerOptions = {},
): ManagedController<Resource> {
  const { now = () => new Date(), random = Math.random } = options;
  const settled = (): number => Math.round(resyncMs * (1 + random() / 5));

  return {
    async reconcile(resource, context): Promise<ManagedResult> {
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
        conditions: [ready(`${what} of tenant "${tenant}" is as it should be`)],
        afterMs: settled(),
        status: kind.status(resource, context),
      };
    },

    async remove(resource, context) {
      const done = { done: true, conditions: [], afterMs: 0 } as const;
      // With its tenant gone there is nobody to ask, and a namespace that is deleted must not wait.
      if (resource.spec.deletionPolicy === 'Retain' || context === undefined) return done;
      try {
        const stays = await kind.remove(resource, context, now);
        if (stays === undefined) return done;
        return { done: false, conditions: [notReady(stays.reason, stays.message)], afterMs: removeRetryMs };
      } catch (error) {
        const doing = `${kind.describe(resource)} cannot be deleted`;
        return { done: false, ...explainFailure(error, context.access.tenant.metadata.name, doing) };
      }
    },
  };
}
