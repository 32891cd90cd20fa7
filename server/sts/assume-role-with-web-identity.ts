import { createHash } from 'node:crypto';
import { parsePolicyDocument } from '../../protocol/policy/parse-policy.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { IdentityProblem } from '../../platform/openid/identity-problem.ts';
import { OpenIdProblem } from '../../platform/openid/openid-problem.ts';
import { mergeUserinfo, readUserinfo } from '../../platform/openid/userinfo.ts';
import { longestToken, verifyToken } from '../../platform/openid/verify-token.ts';
import type { VerifiedToken } from '../../platform/openid/verify-token.ts';
import { variableClaims } from '../access/claim-variables.ts';
import type { OpenIdProvider, OpenIdProviders, ProviderStatus } from '../access/openid-providers.ts';
import type { PolicySource } from '../access/policy-source.ts';
import type { TemporaryCredentials } from '../access/temporary-credentials-record.ts';
import type { TemporaryCredentialsStore } from '../access/temporary-credentials.ts';
import { chooseProvider } from './choose-provider.ts';
import { checkDuration, expirationOf } from './credential-lifetime.ts';
import { grantedPolicies } from './granted-policies.ts';
import { StsError } from './sts-error.ts';

export interface WebIdentityRequest {
  /** The JWT: an access token or an ID token of the provider. */
  readonly token: string;
  /** Seconds, 900 to 31,536,000; the token's expiry bounds it. */
  readonly durationSeconds?: number;
  /** Inline session policy (JSON), of at most 2,048 characters. */
  readonly policy?: string;
  readonly roleArn?: string;
  /** The provider, where the caller knows it (console sign-in); otherwise role ARN and issuer choose it. */
  readonly providerId?: string;
  /** Bearer for the userinfo endpoint, where `claim_userinfo` is on and the token is an ID token. */
  readonly accessToken?: string;
}

export interface AssumedRole {
  readonly credentials: TemporaryCredentials;
  readonly expiration: Date;
  readonly subject: string;
  /** The client that the token was issued for. */
  readonly audience: string;
  readonly issuer: string;
  readonly roleArn: string;
}

/** Errors with `StsError`, whose message is for the person who asked. */
export type AssumeRoleWithWebIdentity = (request: WebIdentityRequest) => Promise<AssumedRole>;

export interface WebIdentityServices {
  readonly providers: Pick<OpenIdProviders, 'list' | 'byId' | 'started'>;
  readonly temporary: Pick<TemporaryCredentialsStore, 'create'>;
  readonly policies: PolicySource;
  /** Where the request names no lifetime; the token's own without it. Seconds. */
  readonly defaultDuration?: number;
  readonly clock?: () => Date;
}

/** Characters. */
const longestPolicy = 2_048;

/** @see https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html */
export function createAssumeRoleWithWebIdentity(services: WebIdentityServices): AssumeRoleWithWebIdentity {
  const clock = services.clock ?? (() => new Date());
  return async (request) => {
    const duration = request.durationSeconds === undefined ? undefined : checkDuration(request.durationSeconds);
    if (request.policy !== undefined) checkSessionPolicy(request.policy);
    if (request.token.length > longestToken) {
      throw new StsError('InvalidParameterValue', `WebIdentityToken is longer than ${longestToken} characters.`);
    }
    // Right after a start a provider may not have been asked yet.
    await services.providers.started;
    const provider = chooseProvider(services.providers, request);
    try {
      const status = readyStatus(provider);
      const token = await verifyToken(request.token, { ...expectations(provider, status), clock });
      const claims = await allClaims(provider, status, token, request);
      const policies = await grantedPolicies(claims, provider.settings, services.policies);
      const expiration = expirationOf(token.expiration, duration ?? services.defaultDuration, clock());
      if (expiration <= clock()) throw new StsError('ExpiredToken', 'The token expires right now; get a new one.');
      const parent = parentOf(token);
      const credentials = await services.temporary.create({
        parentName: parent,
        subject: {
          kind: 'federated',
          source: 'openid',
          provider: provider.id,
          parent,
          displayName: displayNameOf(claims, token.subject),
          subjectId: token.subject,
          policies: [...policies],
          targets: [],
          claims: variableClaims(claims, { lists: true }),
        },
        ...(provider.roleArn === undefined ? {} : { roleArn: provider.roleArn }),
        ...(request.policy === undefined ? {} : { sessionPolicy: request.policy }),
        expiration,
      });
      return {
        credentials,
        expiration,
        subject: token.subject,
        audience: provider.settings.clientId,
        issuer: token.issuer,
        roleArn: provider.roleArn ?? 'arn:minio:iam:::role/dummy-internal',
      };
    } catch (error) {
      throw asStsError(error, provider.id);
    }
  };
}

type Ready = Extract<ProviderStatus, { kind: 'ready' }>;

function readyStatus({ id, status }: OpenIdProvider): Ready {
  if (status.kind === 'ready') return status;
  const why = status.problem === undefined ? 'it is still being read' : status.problem.message;
  throw new StsError('IDPCommunicationError', `The OpenID provider ${id} cannot be used now: ${why}`);
}

function expectations({ settings }: OpenIdProvider, { metadata, keys }: Ready) {
  const algorithms = metadata.document['id_token_signing_alg_values_supported'];
  return {
    issuer: metadata.issuer,
    clientId: settings.clientId,
    keys,
    ...(settings.clientSecret === undefined ? {} : { clientSecret: settings.clientSecret }),
    hmacAlgorithms: Array.isArray(algorithms) ? algorithms.filter((item) => typeof item === 'string') : [],
  };
}

async function allClaims(
  provider: OpenIdProvider,
  { metadata }: Ready,
  token: VerifiedToken,
  request: WebIdentityRequest,
): Promise<Record<string, unknown>> {
  if (!provider.settings.claimUserinfo) return token.claims;
  if (metadata.userinfoEndpoint === undefined) {
    throw new StsError('InvalidParameterValue', `The OpenID provider ${provider.id} offers no userinfo endpoint.`);
  }
  const bearer = request.accessToken ?? request.token;
  const userinfo = await readUserinfo(metadata.userinfoEndpoint, bearer, token.subject, provider.fetch);
  return mergeUserinfo(token.claims, userinfo);
}

/** The person behind the credentials, as MinIO names them: sessions, and later access keys, are found by it. */
function parentOf({ subject, issuer }: VerifiedToken): string {
  return createHash('sha256').update(`openid:${subject}:${issuer}`).digest('base64url');
}

function displayNameOf(claims: Readonly<Record<string, unknown>>, subject: string): string {
  const names = [claims['preferred_username'], claims['email'], subject];
  const name = names.find((value): value is string => typeof value === 'string' && value !== '') ?? subject;
  return name.slice(0, 256);
}

function checkSessionPolicy(policy: string): void {
  if (policy.length > longestPolicy) {
    throw new StsError('InvalidParameterValue', `Policy is longer than ${longestPolicy} characters.`);
  }
  try {
    parsePolicyDocument(policy);
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    throw new StsError('MalformedPolicyDocument', `Policy is not a valid policy document: ${error.message}`, {
      cause: error,
    });
  }
}

function asStsError(error: unknown, provider: string): unknown {
  if (error instanceof IdentityProblem) {
    const code = error.code === 'TokenExpired' ? 'ExpiredToken' : 'InvalidIdentityToken';
    return new StsError(code, error.message, { cause: error });
  }
  if (error instanceof OpenIdProblem) {
    const message = `The OpenID provider ${provider} cannot be used now: ${error.message}`;
    return new StsError('IDPCommunicationError', message, { cause: error });
  }
  return error;
}
