import { randomBytes } from 'node:crypto';
import { admit, admitStatus } from './admission.ts';
import {
  ApiError,
  isObject,
  sameJson,
  timestamp,
  type ApiObject,
  type JsonObject,
  type ManagedFields,
} from './api-object.ts';
import { withDefaults } from './defaults.ts';
import { newMetadata, type ObjectStore } from './object-store.ts';
import { disruptionsAllowed } from './selectors.ts';
import { hasGeneration, hasStatus, isClusterScoped } from './resource-types.ts';
import { applyFields, recordUpdate, type FieldManager } from './server-side-apply.ts';

/** An object, or a place for one. */
interface Target {
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

export interface DeletionOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** The verbs of the API on the store, each as strict as the real server's. Every one errors with an `ApiError`. */
export class Operations {
  readonly #store: ObjectStore;
  /** Stands for mutating admission: policies and webhooks. Its changes belong to no field manager. */
  mutate: (resource: string, object: ApiObject) => ApiObject = (_resource, object) => object;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  get({ resource, namespace, name }: Target): ApiObject {
    const found = this.#store.get(resource, namespace, name);
    if (found === undefined) throw ApiError.notFound(resource, name);
    return found;
  }

  create(resource: string, namespace: string | undefined, body: JsonObject, manager: FieldManager): ApiObject {
    const metadata = this.#metadataOf(body, namespace);
    const prefix = metadata['generateName'];
    const name = metadata['name'] ?? (typeof prefix === 'string' ? `${prefix}${suffix()}` : undefined);
    if (typeof name !== 'string' || name === '')
      throw ApiError.invalid(String(body['kind']), '', [required('metadata.name')]);
    this.#checkNamespace(resource, namespace, name);
    if (this.#store.get(resource, namespace, name) !== undefined) throw ApiError.alreadyExists(resource, name);
    const fresh = this.#fresh(resource, namespace, name, body, metadata);
    const object = this.mutate(resource, fresh);
    admit(resource, undefined, object);
    const { managedFields } = recordUpdate(undefined, fresh, manager).metadata;
    const owners = managedFields === undefined ? {} : { managedFields };
    return this.#store.write(resource, { ...object, metadata: { ...object.metadata, ...owners } });
  }

  update(target: Target, body: JsonObject, manager: FieldManager): ApiObject {
    const before = this.get(target);
    const metadata = this.#metadataOf(body, target.namespace);
    if (metadata['name'] !== undefined && metadata['name'] !== target.name)
      throw ApiError.badRequest('the name of the object does not match the URL');
    this.#checkPreconditions(target, before, { uid: metadata['uid'], resourceVersion: metadata['resourceVersion'] });
    return this.#replace(target, before, body, manager);
  }

  mergePatch(target: Target, patch: JsonObject, manager: FieldManager): ApiObject {
    const before = this.get(target);
    const metadata = isObject(patch['metadata']) ? patch['metadata'] : {};
    this.#checkPreconditions(target, before, { uid: metadata['uid'], resourceVersion: metadata['resourceVersion'] });
    return this.#replace(target, before, mergeJson(before, patch) as JsonObject, manager);
  }

  apply(target: Target, body: JsonObject, manager: FieldManager, force: boolean): ApiObject {
    const { resource, namespace, name } = target;
    const metadata = this.#metadataOf(body, namespace);
    if (metadata['name'] !== undefined && metadata['name'] !== name)
      throw ApiError.badRequest('the name of the object does not match the URL');
    if (metadata['managedFields'] !== undefined) throw ApiError.badRequest('metadata.managedFields must be nil');
    const before = this.#store.get(resource, namespace, name);
    if (before === undefined) {
      if (manager.subresource !== undefined) throw ApiError.notFound(resource, name);
      if (metadata['resourceVersion'] !== undefined || metadata['uid'] !== undefined) {
        throw ApiError.conflict(resource, name, 'the object to be applied does not exist');
      }
      this.#checkNamespace(resource, namespace, name);
      const empty = this.#fresh(resource, namespace, name, { apiVersion: body['apiVersion'], kind: body['kind'] }, {});
      const applied = applyFields(empty, this.#writable(resource, manager, body), manager, force);
      const object = this.mutate(resource, withDefaults(resource, applied));
      admit(resource, undefined, object);
      return this.#store.write(resource, object);
    }
    this.#checkPreconditions(target, before, { uid: metadata['uid'], resourceVersion: metadata['resourceVersion'] });
    const applied = applyFields(before, this.#writable(resource, manager, body), manager, force);
    return this.#save(target, before, withDefaults(resource, applied), manager.subresource);
  }

  /** Answers the object as it is now, also where it is gone. */
  delete(target: Target, { gracePeriodSeconds, propagationPolicy, preconditions = {} }: DeletionOptions): ApiObject {
    const before = this.get(target);
    this.#checkPreconditions(target, before, preconditions);
    const finalizer = { Foreground: 'foregroundDeletion', Orphan: 'orphan', Background: undefined }[
      propagationPolicy ?? 'Background'
    ];
    const finalizers = [
      ...new Set([...(before.metadata.finalizers ?? []), ...(finalizer === undefined ? [] : [finalizer])]),
    ];
    const graceful = target.resource === 'pods' && gracePeriodSeconds !== 0 && specOf(before)['nodeName'] !== undefined;
    const namespace = target.resource === 'namespaces';
    if (finalizers.length === 0 && !graceful && !namespace) return this.#store.remove(target.resource, before);
    if (before.metadata.deletionTimestamp !== undefined && gracePeriodSeconds !== 0) return before;
    const { generation } = before.metadata;
    return this.#store.write(target.resource, {
      ...before,
      metadata: {
        ...before.metadata,
        ...(finalizers.length > 0 ? { finalizers } : {}),
        ...(generation === undefined ? {} : { generation: generation + 1 }),
        deletionTimestamp: before.metadata.deletionTimestamp ?? timestamp(),
        deletionGracePeriodSeconds: graceful
          ? (gracePeriodSeconds ?? Number(specOf(before)['terminationGracePeriodSeconds'] ?? 30))
          : 0,
      },
      ...(namespace ? { status: { phase: 'Terminating' } } : {}),
    });
  }

  /** A deletion that asks the disruption budgets. */
  evict(target: Target, options: DeletionOptions): void {
    const pod = this.get(target);
    const budgets = this.#store.list('poddisruptionbudgets.policy', target.namespace);
    const pods = this.#store.list('pods', target.namespace);
    for (const budget of budgets) {
      if (disruptionsAllowed(budget, pods, pod) > 0) continue;
      const why = "Cannot evict pod as it would violate the pod's disruption budget.";
      throw new ApiError(
        429,
        'TooManyRequests',
        why,
        [{ field: budget.metadata.name, message: 'needs more healthy pods' }],
        10,
      );
    }
    this.delete(target, options);
  }

  #replace(target: Target, before: ApiObject, body: JsonObject, manager: FieldManager): ApiObject {
    const wanted = this.#writable(target.resource, manager, body);
    const next =
      manager.subresource === undefined
        ? { ...wanted, metadata: { ...(wanted['metadata'] as object), ...identity(before) }, status: before['status'] }
        : { ...before, status: wanted['status'] };
    const whole = (hasStatus(target.resource) ? next : { ...wanted, metadata: next.metadata }) as ApiObject;
    if (whole['status'] === undefined) delete whole['status'];
    const filled = withDefaults(target.resource, { ...whole, apiVersion: before.apiVersion, kind: before.kind });
    return this.#save(target, before, recordUpdate(ownersGiven(before, body), filled, manager), manager.subresource);
  }

  #save({ resource, name }: Target, before: ApiObject, sent: ApiObject, subresource: string | undefined): ApiObject {
    const next = subresource === undefined ? this.mutate(resource, sent) : sent;
    const { metadata: _old, status: _oldStatus, managedFields: _m, ...oldRest } = before;
    const { metadata: _new, status: _newStatus, ...newRest } = next;
    const changed = !sameJson(oldRest, newRest);
    const generation = before.metadata.generation;
    const metadata = {
      ...next.metadata,
      ...identity(before),
      ...(generation === undefined ? {} : { generation: changed ? generation + 1 : generation }),
    };
    const object = { ...next, metadata };
    if (before.metadata.deletionTimestamp !== undefined) this.#checkFinalizers(resource, name, before, object);
    if (subresource === undefined) admit(resource, before, object);
    else admitStatus(resource, object);
    const written = this.#store.write(resource, object);
    const gone = metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
    const waits = resource === 'namespaces' || (metadata.deletionGracePeriodSeconds ?? 0) > 0;
    return gone && !waits ? this.#store.remove(resource, written) : written;
  }

  #fresh(
    resource: string,
    namespace: string | undefined,
    name: string,
    body: JsonObject,
    given: JsonObject,
  ): ApiObject {
    const { managedFields: _fields, resourceVersion: _version, uid: _uid, generateName, ...metadata } = given;
    const { status: _status, ...rest } = body;
    const status = firstStatus(resource);
    return withDefaults(resource, {
      ...(hasStatus(resource) ? rest : body),
      ...(status === undefined ? {} : { status }),
      apiVersion: String(body['apiVersion']),
      kind: String(body['kind']),
      metadata: {
        ...metadata,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        ...(typeof generateName === 'string' ? { generateName } : {}),
        ...newMetadata(),
        ...(hasGeneration(resource) ? { generation: 1 } : {}),
      },
    });
  }

  /** Without what this request may not write: status by the object itself, all else by its status. */
  #writable(resource: string, { subresource }: FieldManager, body: JsonObject): JsonObject {
    if (subresource === 'status') return { apiVersion: body['apiVersion'], kind: body['kind'], status: body['status'] };
    if (!hasStatus(resource)) return body;
    const { status: _status, ...rest } = body;
    return rest;
  }

  #metadataOf(body: JsonObject, namespace: string | undefined): JsonObject {
    if (typeof body['kind'] !== 'string' || typeof body['apiVersion'] !== 'string') {
      throw ApiError.badRequest("Object 'Kind' or 'apiVersion' is missing");
    }
    const metadata = isObject(body['metadata']) ? body['metadata'] : {};
    if (metadata['namespace'] !== undefined && metadata['namespace'] !== namespace) {
      throw ApiError.badRequest(
        'the namespace of the provided object does not match the namespace sent on the request',
      );
    }
    return metadata;
  }

  /** @see https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#namespacelifecycle */
  #checkNamespace(resource: string, namespace: string | undefined, name: string): void {
    if (isClusterScoped(resource)) return;
    const found = namespace === undefined ? undefined : this.#store.get('namespaces', undefined, namespace);
    if (found === undefined) throw ApiError.notFound('namespaces', namespace ?? '');
    if (found.metadata.deletionTimestamp !== undefined) {
      const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
      const message = `namespace ${namespace} is being terminated`;
      throw new ApiError(403, 'Forbidden', `${resource} "${name}" is forbidden: ${why}`, [
        { reason: 'NamespaceTerminating', field: 'metadata.namespace', message },
      ]);
    }
  }

  #checkPreconditions(
    { resource, name }: Target,
    before: ApiObject,
    wanted: { uid?: unknown; resourceVersion?: unknown },
  ): void {
    const { uid, resourceVersion } = before.metadata;
    if (wanted.uid !== undefined && wanted.uid !== uid) {
      throw ApiError.conflict(
        resource,
        name,
        `Precondition failed: UID in precondition: ${JSON.stringify(wanted.uid)}, UID in object meta: ${uid}`,
      );
    }
    if (
      wanted.resourceVersion !== undefined &&
      wanted.resourceVersion !== '' &&
      wanted.resourceVersion !== resourceVersion
    ) {
      throw ApiError.conflict(
        resource,
        name,
        'the object has been modified; please apply your changes to the latest version and try again',
      );
    }
  }

  #checkFinalizers(resource: string, name: string, before: ApiObject, after: ApiObject): void {
    const former = new Set(before.metadata.finalizers);
    const added = (after.metadata.finalizers ?? []).filter((finalizer) => !former.has(finalizer));
    if (added.length === 0) return;
    const message = `Forbidden: no new finalizers can be added if the object is being deleted: ${added.join(', ')}`;
    throw ApiError.invalid(resource, name, [{ field: 'metadata.finalizers', message }]);
  }
}

/** RFC 7386. */
function mergeJson(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return structuredClone(patch);
  const merged: JsonObject = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergeJson(merged[key], value);
  }
  return merged;
}

/** Metadata that no request changes. */
function identity({ metadata }: ApiObject): Partial<ApiObject['metadata']> {
  const {
    name,
    namespace,
    uid,
    resourceVersion,
    generation,
    creationTimestamp,
    deletionTimestamp,
    deletionGracePeriodSeconds,
  } = metadata;
  return JSON.parse(
    JSON.stringify({
      name,
      namespace,
      uid,
      resourceVersion,
      generation,
      creationTimestamp,
      deletionTimestamp,
      deletionGracePeriodSeconds,
    }),
  ) as Partial<ApiObject['metadata']>;
}

function firstStatus(resource: string): JsonObject | undefined {
  if (resource === 'pods') return { phase: 'Pending', qosClass: 'BestEffort' };
  if (resource === 'namespaces') return { phase: 'Active' };
  if (resource === 'persistentvolumeclaims') return { phase: 'Pending' };
  if (resource === 'services') return { loadBalancer: {} };
  return undefined;
}

function specOf(object: ApiObject): JsonObject {
  return isObject(object['spec']) ? object['spec'] : {};
}

function required(field: string): { field: string; message: string } {
  return { field, message: 'Required value: name or generateName is required' };
}

function suffix(): string {
  return randomBytes(5).toString('hex').slice(0, 5);
}

/** Managed fields that are sent replace those that were there; an empty list changes nothing. */
function ownersGiven(before: ApiObject, body: JsonObject): ApiObject {
  const given = isObject(body['metadata']) ? body['metadata']['managedFields'] : undefined;
  if (!Array.isArray(given) || given.length === 0) return before;
  return { ...before, metadata: { ...before.metadata, managedFields: given as ManagedFields[] } };
}
