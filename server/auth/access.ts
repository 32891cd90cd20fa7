import { KeySourceError } from '../encryption/key-source.ts';
import { StoreUnavailable } from '../store/record-store.ts';
import type { PolicyDocument } from '../../protocol/policy/document.ts';
import type { IdentityReader, Identities } from './identities/identities.ts';
import { parsePolicyDocument } from '../../protocol/policy/parse-policy.ts';
import type { SealedRecordStore } from '../encryption/sealed-records.ts';
import type { Subject } from './identities/subject.ts';
import { authorize, explainDecision, type ExplainedDecision, type PolicySources } from './authorize.ts';
import type { CredentialSource } from './authenticate.ts';
import type { Access, AccessRequest, StoredCredentials } from './principal.ts';
import { createFormerRoot, rootCredentials, sessionTokenKey, type RootCredentials } from './root-credentials.ts';
import { createTemporaryCredentials, type TemporaryCredentialsStore } from './temporary-credentials.ts';

/** Reports whether the error says that records or keys are unavailable now, so that a later attempt may succeed. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof StoreUnavailable || (error instanceof KeySourceError && error.code === 'unavailable');
}

/** Finds policy documents by name. */
export interface PolicySource {
  get(name: string): Promise<PolicyDocument | undefined>;
}

/** Returns stored and built-in policies. */
export function policiesOf(identities: Pick<IdentityReader, 'policy'>): PolicySource {
  return { get: async (name) => (await identities.policy(name))?.document };
}

interface AccessOptions extends PolicySources {
  readonly records: SealedRecordStore;
  readonly root: RootCredentials;
  /** The file with the root credentials that were valid before a rotation. */
  readonly formerRootFile?: string;
  readonly identities: Identities;
  readonly clock?: () => Date;
}

/** Authentication and authorization for every API, and the store of temporary credentials for STS. */
export interface AccessService extends Required<Access>, Required<CredentialSource> {
  readonly identities: Identities;
  readonly temporary: TemporaryCredentialsStore;
  /** Decides like `authorize` and adds the result of each statement of each policy. For administrators only. */
  explain(request: AccessRequest): Promise<ExplainedDecision>;
}

export function createAccess(options: AccessOptions): AccessService {
  const { identities } = options;
  const clock = options.clock ?? (() => new Date());
  const root = rootCredentials(options.root);
  const temporary = createTemporaryCredentials({
    records: options.records,
    tokenKey: sessionTokenKey(options.root),
    clock,
  });
  return {
    identities,
    temporary,
    async credentials(accessKey) {
      if (accessKey === root.accessKey) return root;
      const found =
        (await temporary.find(accessKey)) ??
        (await ofServiceAccount(identities, accessKey, clock())) ??
        (await ofUser(identities, accessKey));
      // Credentials of a user end with the user, and they do not work while the user is disabled.
      return found !== undefined && (await isActive(identities, found)) ? found : undefined;
    },
    formerRoot: createFormerRoot(options.formerRootFile, clock),
    issuedButExpired: (accessKey, sessionToken) => temporary.issuedButExpired(accessKey, sessionToken),
    authorize: (request) => authorize(request, identities, options),
    explain: (request) => explainDecision(request, identities, options),
  };
}

async function ofServiceAccount(
  identities: Identities,
  accessKey: string,
  now: Date,
): Promise<StoredCredentials | undefined> {
  const account = await identities.serviceAccount(accessKey);
  if (account === undefined || account.status === 'disabled') return undefined;
  const { secretKey, subject, policy, expiration } = account;
  if (expiration !== undefined && expiration <= now.getTime()) return undefined;
  return {
    accessKey,
    secretKey,
    principal: {
      kind: 'service-account',
      accessKey,
      subject,
      ...(policy === undefined ? {} : { inlinePolicy: parsePolicyDocument(policy) }),
      ...(expiration === undefined ? {} : { expiration: new Date(expiration) }),
    },
  };
}

async function ofUser(identities: Identities, accessKey: string): Promise<StoredCredentials | undefined> {
  const user = await identities.user(accessKey);
  if (user === undefined) return undefined;
  const subject: Subject = { kind: 'user', name: accessKey };
  return { accessKey, secretKey: user.secretKey, principal: { kind: 'user', accessKey, subject } };
}

async function isActive(identities: Identities, { principal }: StoredCredentials): Promise<boolean> {
  if (principal.kind === 'anonymous' || principal.kind === 'root' || principal.subject.kind !== 'user') return true;
  return (await identities.user(principal.subject.name))?.status === 'enabled';
}
