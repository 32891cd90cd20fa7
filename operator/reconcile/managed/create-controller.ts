import { ResourceError, isConflict } from '../../api/resource-error.ts';
import { notReady, reconciling, stalled, ready } from '../conditions.ts';
import type { ManagedResult, ManagedContext, ManagedController, ManagedStatus } from './controller.ts';
import type { ManagedResource } from '../../api/object.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

/** Reports whether two values are the same document. The order of fields does not count, that of lists does. */
export function sameDocument(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return entries.sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, field]) => [name, sorted(field)]);
}

/** Milliseconds until the next try: soon for a problem that may end by itself, later for one that needs the user. */
const retryAfter = { passing: 15_000, user: 120_000 } as const;

const passingStatus = new Set([408, 409, 429]);
const credentialCodes = new Set(['AccessDenied', 'InvalidAccessKeyId', 'SignatureDoesNotMatch']);

/** Reasons by the server's code, for problems that the user has to correct in the resource. */
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
  XMinioAdminTierAlreadyExists: 'TierDiffers',
  XMinioAdminTierBackendInUse: 'TierInUse',
  XMinioAdminTierBackendNotEmpty: 'TierInUse',
  XMinioAdminTierBucketNotFound: 'TierUnusable',
  XMinioAdminTierInsufficientPermissions: 'TierUnusable',
  XMinioAdminTierInvalidConfig: 'TierUnusable',
  XMinioAdminTierInvalidCredentials: 'TierUnusable',
  RemoteDestinationNotFoundError: 'ReplicationTargetUnusable',
  RemoteTargetNotVersionedError: 'ReplicationTargetUnusable',
  ReplicationDestinationMissingLockError: 'ReplicationTargetUnusable',
  XMinioAdminRemoteIdenticalToSource: 'ReplicationTargetUnusable',
  XMinioAdminReplicationBandwidthLimitError: 'ReplicationTargetUnusable',
};

/** Reasons for a missing object that another resource or a user may still create. */
const awaited: Readonly<Record<string, string>> = {
  XMinioAdminNoSuchPolicy: 'PolicyNotFound',
  XMinioAdminNoSuchUser: 'UserNotFound',
  XMinioAdminNoSuchGroup: 'GroupNotFound',
  XMinioAdminPolicyInUse: 'PolicyInUse',
  InvalidStorageClass: 'TierNotFound',
  XMinioAdminReplicationRemoteConnectionError: 'ReplicationTargetUnreachable',
  XMinioBackendDown: 'TierUnreachable',
};

/** A failed step of a reconcile, for a condition. */
export interface Failure {
  readonly reason: string;
  readonly message: string;
  /** True where the failure may end without a change of the resource. */
  readonly passes: boolean;
  /** Milliseconds until the next try. */
  readonly afterMs: number;
}

/** Describes a failed step; `doing` names it: `the policy differs and cannot be set`. Rethrows errors that no condition can report. */
export function describeFailure(error: unknown, tenant: string, doing: string): Failure {
  if (error instanceof ResponseError && error.code === 'Unreachable') {
    const message = `the tenant "${tenant}" cannot be reached: ${error.message}`;
    return passing('TenantUnreachable', message);
  }
  if (error instanceof ResourceError && !isConflict(error)) return forUser(error.code, error.message);
  if (!(error instanceof ResponseError)) throw error;
  if (credentialCodes.has(error.code)) {
    const message = `the tenant "${tenant}" refuses its root credentials (${error.code}): it has not taken up those of its Secret yet, or they were changed in it by hand`;
    return passing('CredentialsRefused', message);
  }
  const message = `${doing}: ${error.message} (${error.code})`;
  const awaitedReason = awaited[error.code];
  if (awaitedReason !== undefined) return passing(awaitedReason, message);
  const reason = reasons[error.code];
  if (reason === undefined && (isPassing(error.status) || isOfProxy(error))) {
    return passing('TenantUnavailable', message);
  }
  return forUser(reason ?? 'RefusedByTenant', message);
}

/** Returns the conditions of a failed reconcile. */
function explainFailure(error: unknown, tenant: string, doing: string): ManagedResult {
  const { reason, message, passes, afterMs } = describeFailure(error, tenant, doing);
  const second = passes ? reconciling(reason, message) : stalled(reason, message);
  return { conditions: [notReady(reason, message), second], afterMs };
}

function isPassing(status = 0): boolean {
  return (status >= 500 || passingStatus.has(status)) && status !== 501;
}

/** An answer without a document is that of a proxy before the tenant, which says nothing about the resource. */
function isOfProxy({ code, status }: ResponseError): boolean {
  return code === `HTTP ${status}`;
}

function forUser(reason: string, message: string): Failure {
  return { reason, message, passes: false, afterMs: retryAfter.user };
}

function passing(reason: string, message: string): Failure {
  return { reason, message, passes: true, afterMs: retryAfter.passing };
}

export interface ControllerOptions {
  /** Called with the changes made in a tenant, for an event; also when a manual change was reverted. */
  readonly onChanged?: (resource: ManagedResource, differences: readonly string[]) => void;
  readonly now?: () => Date;
  /** A number below 1, which spreads the reconciles of many resources. */
  readonly random?: () => number;
}

/** One change in a tenant; `difference` explains it to the user, without secrets. */
export interface ManagedChange {
  readonly difference: string;
  /** True when the change is made even after an earlier one failed. */
  readonly independent?: true;
  make(): Promise<unknown>;
}

/** The part of a controller that differs between kinds. */
interface ManagedKindOptions<Resource extends ManagedResource> {
  /** Returns a text such as `the bucket "photos"`. */
  readonly describe: (resource: Resource) => string;
  /** Returns the changes that apply the resource, in order. Errors as `make`, and with `ResourceError`. */
  readonly changes: (resource: Resource, context: ManagedContext, now: () => Date) => Promise<readonly ManagedChange[]>;
  /** Returns the status after the changes. */
  readonly status: (resource: Resource, context: ManagedContext) => ManagedStatus | Promise<ManagedStatus>;
  /** Resolves also when the external resource does not exist; with an error when it has to stay for now. */
  readonly remove: (resource: Resource, context: ManagedContext, now: () => Date) => Promise<ResourceError | undefined>;
}

/** Milliseconds between reconciles of a resource without problems; a random part adds up to a fifth. */
export const resyncMs = 240_000;
/** Milliseconds until a postponed removal is tried again. */
const removeRetryMs = 60_000;

/** Makes a controller that compares a resource with the tenant's server, applies the differences, and reports failures as conditions. */
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
      if (failure !== undefined) {
        return { ...explainFailure(failure.error, tenant, failure.doing), changed: made.length > 0 };
      }
      return {
        conditions: [ready(`${what} of tenant "${tenant}" is as it should be`)],
        afterMs: settled(),
        changed: made.length > 0,
        status: await kind.status(resource, context),
      };
    },

    async remove(resource, context) {
      const done = { done: true, conditions: [], afterMs: 0 } as const;
      // Without its tenant there is no server to ask, and the deletion of a namespace must not wait.
      if (resource.spec.deletionPolicy === 'Retain' || context === undefined) return done;
      try {
        const stays = await kind.remove(resource, context, now);
        if (stays === undefined) return done;
        return { done: false, conditions: [notReady(stays.code, stays.message)], afterMs: removeRetryMs };
      } catch (error) {
        const doing = `${kind.describe(resource)} cannot be deleted`;
        return { done: false, ...explainFailure(error, context.access.tenant.metadata.name, doing) };
      }
    },
  };
}
