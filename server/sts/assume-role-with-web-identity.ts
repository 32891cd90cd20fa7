import type { RequestOrigin } from '../auth/condition-keys.ts';
import { TokenError, OpenIdError } from '../../platform/openid/errors.ts';
import { mergeUserinfo, readUserinfo } from '../../platform/openid/claims.ts';
import { maxTokenLength, verifyToken, type VerifiedToken } from '../../platform/openid/verify-token.ts';
import type { OpenIdProvider, OpenIdProviders, ProviderStatus } from '../federation/openid-providers.ts';
import type { AuditContext } from '../http/contract/request.ts';
import type { TemporaryCredentials } from '../auth/temporary-credentials-record.ts';
import { chooseProvider } from './choose-provider.ts';
import { expirationOf, checkSession, type SessionRequest, sessionRequest, type StsAction } from './sts-request.ts';
import { grantCredentials, type GrantServices } from './grant-credentials.ts';
import { type RightsSource, openIdBearer, openIdSubject } from './granted-rights.ts';
import { assumedRoleUser, credentialsElement, stsError, isStsError } from './sts-error.ts';
import { element } from '../../protocol/s3/xml-writer.ts';

/** The token's expiry bounds the duration. */
interface WebIdentityRequest extends SessionRequest {
  /** An access token or an ID token of the provider (JWT). */
  readonly token: string;
  readonly roleArn?: string;
  /** The provider, if the caller knows it (console sign-in); otherwise role ARN and issuer select it. */
  readonly providerId?: string;
  /** The action, if it is an alias of this one. */
  readonly action?: 'AssumeRoleWithClientGrants';
  /** The bearer token for the userinfo endpoint, if `claim_userinfo` is on and the token is an ID token. */
  readonly accessToken?: string;
  /** The audit context of the request. */
  readonly audit?: AuditContext | undefined;
  readonly from?: RequestOrigin | undefined;
}

interface AssumedRole {
  readonly credentials: TemporaryCredentials;
  readonly expiration: Date;
  readonly subject: string;
  /** The client of the token. */
  readonly audience: string;
  readonly issuer: string;
  readonly roleArn: string;
}

/** Rejects with `RequestError`; its message is for the caller. */
export type AssumeRoleWithWebIdentity = (request: WebIdentityRequest) => Promise<AssumedRole>;

interface WebIdentityServices {
  readonly providers: Pick<OpenIdProviders, 'list' | 'byId' | 'started'>;
  readonly access: GrantServices & { readonly identities: RightsSource };
  /** Seconds, if the request has no duration; without it the token's expiry counts. */
  readonly defaultDuration?: number;
  readonly clock?: () => Date;
}

/** @see https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html */
export function createAssumeRoleWithWebIdentity(services: WebIdentityServices): AssumeRoleWithWebIdentity {
  const { access } = services;
  const clock = services.clock ?? (() => new Date());
  return async (request) => {
    checkSession(request);
    if (request.token.length > maxTokenLength) {
      throw stsError('InvalidParameterValue', `WebIdentityToken is longer than ${maxTokenLength} characters.`);
    }
    // Providers may not be ready right after the start.
    await services.providers.started;
    const provider = chooseProvider(services.providers, request);
    const { audit } = request;
    audit?.setBearer({ source: 'openid', provider: provider.id });
    try {
      const status = readyStatus(provider);
      const token = await verifyToken(request.token, { ...expectations(provider, status), clock });
      const claims = await allClaims(provider, status, token, request);
      const known = { claims, subject: token.subject, issuer: token.issuer };
      audit?.setBearer(openIdBearer(known, provider.settings));
      const { subject } = await openIdSubject(known, provider.settings, access.identities);
      const now = clock();
      const expiration = expirationOf(token.expiration, request.durationSeconds ?? services.defaultDuration, now);
      if (expiration <= now) throw stsError('ExpiredTokenException', 'The token expires right now; get a new one.');
      const credentials = await grantCredentials(access, {
        action: request.action ?? 'AssumeRoleWithWebIdentity',
        audit,
        from: request.from,
        parentName: subject.parent,
        subject,
        ...(provider.roleArn === undefined ? {} : { roleArn: provider.roleArn }),
        session: request,
        expiration,
        now,
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

export type Ready = Extract<ProviderStatus, { kind: 'ready' }>;

export function readyStatus({ id, status }: OpenIdProvider): Ready {
  if (status.kind === 'ready') return status;
  const why = status.issue === undefined ? 'it is still being read' : status.issue.message;
  throw stsError('IDPCommunicationError', `The OpenID provider ${id} cannot be used now: ${why}`);
}

/** Returns the expected properties of a token of this provider. */
export function expectations({ settings }: OpenIdProvider, { metadata, keys }: Ready) {
  const algorithms = metadata.document['id_token_signing_alg_values_supported'];
  return {
    issuer: metadata.issuer,
    clientId: settings.clientId,
    ...(settings.cliClientId === undefined ? {} : { otherClientId: settings.cliClientId }),
    keys,
    ...(settings.clientSecret === undefined ? {} : { clientSecret: settings.clientSecret }),
    hmacAlgorithms: Array.isArray(algorithms) ? algorithms.filter((item) => typeof item === 'string') : [],
  };
}

/** Returns the claims of the token, with those of the userinfo endpoint if configured. */
export async function allClaims(
  provider: OpenIdProvider,
  { metadata }: Ready,
  token: VerifiedToken,
  request: Pick<WebIdentityRequest, 'token' | 'accessToken'>,
): Promise<Record<string, unknown>> {
  if (!provider.settings.claimUserinfo) return token.claims;
  if (metadata.userinfoEndpoint === undefined) {
    throw stsError('InvalidParameterValue', `The OpenID provider ${provider.id} offers no userinfo endpoint.`);
  }
  const bearer = request.accessToken ?? request.token;
  const userinfo = await readUserinfo(metadata.userinfoEndpoint, bearer, token.subject, provider.fetch);
  return mergeUserinfo(token.claims, userinfo);
}

function asStsError(error: unknown, provider: string): unknown {
  if (error instanceof TokenError) {
    const code = error.code === 'TokenExpired' ? 'ExpiredTokenException' : 'InvalidIdentityToken';
    return stsError(code, error.message, { cause: error });
  }
  if (error instanceof OpenIdError) {
    const message = `The OpenID provider ${provider} cannot be used now: ${error.message}`;
    return stsError('IDPCommunicationError', message, { cause: error });
  }
  return error;
}

/** @see https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html */
export function webIdentityAction(assume: AssumeRoleWithWebIdentity): StsAction {
  return {
    name: 'AssumeRoleWithWebIdentity',
    async serve(parameters, request) {
      const roleArn = parameters.optional('RoleArn');
      const accessToken = parameters.optional('WebIdentityAccessToken');
      const role = await assume({
        token: parameters.required('WebIdentityToken'),
        audit: request.audit,
        from: request,
        ...sessionRequest(parameters),
        ...(roleArn === undefined ? {} : { roleArn }),
        ...(accessToken === undefined ? {} : { accessToken }),
      });
      const granted = role.credentials;
      const result = [
        assumedRoleUser(role.roleArn, granted),
        credentialsElement(granted),
        element('SubjectFromWebIdentityToken', role.subject),
        element('Audience', role.audience),
        element('Provider', role.issuer),
      ];
      return { result, granted };
    },
  };
}

/** MinIO's older name for web identity, for tokens of client credentials. The checks are the same. */
export function assumeRoleWithClientGrants(assume: AssumeRoleWithWebIdentity): StsAction {
  return {
    name: 'AssumeRoleWithClientGrants',
    async serve(parameters, request) {
      const token = parameters.required('Token');
      const session = sessionRequest(parameters);
      try {
        const role = await assume({
          token,
          audit: request.audit,
          from: request,
          ...session,
          action: 'AssumeRoleWithClientGrants',
        });
        const granted = role.credentials;
        const result = [
          assumedRoleUser(role.roleArn, granted),
          credentialsElement(granted),
          element('SubjectFromToken', role.subject),
        ];
        return { result, granted };
      } catch (error) {
        if (!isStsError(error) || error.code !== 'InvalidIdentityToken') throw error;
        throw stsError('InvalidClientGrantsToken', error.message, { cause: error });
      }
    },
  };
}
