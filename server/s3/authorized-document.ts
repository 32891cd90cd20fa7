import type { PolicyContext, S3Call, VersionActions } from './operation.ts';
import { readDocument } from './request-body.ts';

interface DocumentRules<T> {
  /** The actions that the caller needs. Those of an object and of a version are the same where S3 has one. */
  readonly actions: VersionActions;
  /** The condition keys that the document can set, in lower case. A `/` at the end matches any suffix. */
  readonly keys: readonly string[];
  /** Bytes. */
  readonly maxBytes: number;
  parse(document: Buffer): T;
  /** Returns the condition keys that the document sets. */
  context(value: T): PolicyContext;
}

/**
 * Reads a document that sets condition keys, and authorizes the caller with them. It first checks that a policy could allow the caller to
 * send some document, so that the body of any other caller stays unread.
 *
 * @throws S3Error AccessDenied, and the errors of `parse` to a caller who may send a document
 */
export async function authorizedDocument<T>(call: S3Call, rules: DocumentRules<T>): Promise<T> {
  const { actions, keys, maxBytes } = rules;
  const resource = call.key === '' ? call.bucket : `${call.bucket}/${call.key}`;
  const versionId = call.query.get('versionId');
  const action = versionId === undefined ? actions.action : actions.versionAction;
  await call.requirePossible(action, resource, { below: false, keys });
  let value: T;
  try {
    value = rules.parse(await readDocument(call, maxBytes));
  } catch (error) {
    await call.requireVersion(actions, resource, versionId);
    throw error;
  }
  await call.requireVersion(actions, resource, versionId, rules.context(value));
  return value;
}
