import type { SealedRecordStore } from '../encryption/sealed-record-store.ts';
import { authorize } from './authorize.ts';
import type { BucketPolicySource } from './authorize.ts';
import type { CredentialSource } from './authenticate.ts';
import type { PolicySource } from './policy-source.ts';
import type { Access } from './principal.ts';
import { rootCredentials, sessionTokenKey } from './root-credentials.ts';
import type { RootCredentials } from './root-credentials.ts';
import { createTemporaryCredentials } from './temporary-credentials.ts';
import type { TemporaryCredentialsStore } from './temporary-credentials.ts';

export interface AccessOptions {
  readonly records: SealedRecordStore;
  readonly root: RootCredentials;
  readonly policies: PolicySource;
  /** The policy of a bucket; undefined where it has none, or there is no such bucket. */
  readonly bucketPolicy: BucketPolicySource;
  readonly clock?: () => Date;
}

/** Everything this room offers: what the other rooms need of it, and the credentials that the STS room makes. */
export interface AccessRoom extends Access, Required<CredentialSource> {
  readonly policies: PolicySource;
  readonly temporary: TemporaryCredentialsStore;
}

export function createAccess(options: AccessOptions): AccessRoom {
  const { policies } = options;
  const root = rootCredentials(options.root);
  const temporary = createTemporaryCredentials({
    records: options.records,
    tokenKey: sessionTokenKey(options.root),
    clock: options.clock ?? (() => new Date()),
  });
  return {
    policies,
    temporary,
    credentials: (accessKey) => (accessKey === root.accessKey ? Promise.resolve(root) : temporary.find(accessKey)),
    issuedButExpired: (accessKey, sessionToken) => temporary.issuedButExpired(accessKey, sessionToken),
    authorize: (request) => authorize(request, policies, options.bucketPolicy),
  };
}
