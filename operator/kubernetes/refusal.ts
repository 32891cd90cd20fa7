import { KubeError, type KubeObject } from '../kube/kube-api.ts';
import { RefusedObject } from '../reconcile/foreign-object.ts';

/** Statuses by which a server says no to the object itself: sent again as it is, it is refused again. */
const refusals: ReadonlySet<number | undefined> = new Set([400, 403, 413, 422]);
/** What the server says with a status of 500 though it means the object: an unknown field in an apply, a webhook that is away. */
const refusalWords = /failed to create typed patch object|failed calling webhook/;
/** A condition holds 32 KiB; a webhook may answer a page. */
const longestMessage = 2_000;

/** The error of a write as it is told: what the server refuses becomes a `RefusedObject` with its words, all else stays as it is. */
export function asRefusal(error: unknown, { kind, metadata }: Pick<KubeObject, 'kind' | 'metadata'>): unknown {
  if (!(error instanceof KubeError) || isEnding(error)) return error;
  if (!refusals.has(error.status) && !refusalWords.test(error.message)) return error;
  const words = error.message.replace(/^[A-Z]+ \/\S*: /, '').slice(0, longestMessage);
  return new RefusedObject(`the API server refuses ${kind} ${metadata.name}: ${words}`, { cause: error });
}

/**
 * The namespace is being deleted: nothing can be made in it, and nothing needs to be.
 *
 * @see https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#namespacelifecycle
 */
export function isEnding(error: unknown): boolean {
  return error instanceof KubeError && error.status === 403 && error.causes.includes('NamespaceTerminating');
}
