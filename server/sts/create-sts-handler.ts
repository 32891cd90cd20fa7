import type { RequestHandler } from '../access/answer.ts';
import { isUnavailable } from '../access/is-unavailable.ts';
import { displayNameOf } from '../access/subject-of.ts';
import type { AssumeRoleWithWebIdentity, AssumedRole, WebIdentityRequest } from './assume-role-with-web-identity.ts';
import { parseDuration } from './credential-lifetime.ts';
import { assumedRoleAnswer, stsErrorAnswer } from './sts-documents.ts';
import { StsError } from './sts-error.ts';
import { stsParameters } from './sts-parameters.ts';

export interface StsServices {
  readonly assumeRoleWithWebIdentity: AssumeRoleWithWebIdentity;
  readonly log: StsLog;
}

/** The part of the logger that is used here. */
export interface StsLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const version = '2011-06-15';

/** Actions of STS, or of MinIO's, that there will be; others are no actions at all. */
const notYet = new Set([
  'AssumeRole',
  'AssumeRoleWithCertificate',
  'AssumeRoleWithClientGrants',
  'AssumeRoleWithCustomToken',
  'AssumeRoleWithLDAPIdentity',
  'AssumeRoleWithSAML',
  'GetCallerIdentity',
]);

/** The STS API: `POST /` with a form. Every refusal is XML of STS, and says in the log what the client was told. */
export function createStsHandler(services: StsServices): RequestHandler {
  const { log } = services;
  return async (request) => {
    const { requestId, remoteAddress } = request;
    try {
      const parameters = await stsParameters(request);
      checkAction(parameters);
      const role = await services.assumeRoleWithWebIdentity(webIdentityRequest(parameters));
      log.info({ requestId, remoteAddress, ...described(role) }, 'temporary credentials were made');
      return assumedRoleAnswer(role, requestId);
    } catch (error) {
      const refusal = asRefusal(error);
      const fields = { requestId, remoteAddress, code: refusal.code };
      if (refusal.code === 'InternalError') log.error({ ...fields, err: error }, 'STS failed');
      else log.warn(fields, `no temporary credentials: ${refusal.message}`);
      return stsErrorAnswer(refusal, requestId);
    }
  };
}

function checkAction(parameters: ReadonlyMap<string, string>): void {
  const action = required(parameters, 'Action');
  if (notYet.has(action)) {
    throw new StsError('NotImplemented', `The action ${action} is not implemented; AssumeRoleWithWebIdentity is.`);
  }
  if (action !== 'AssumeRoleWithWebIdentity') {
    throw new StsError(
      'InvalidAction',
      `There is no action "${action.slice(0, 64)}"; AssumeRoleWithWebIdentity is one.`,
    );
  }
  const given = required(parameters, 'Version');
  if (given !== version) {
    throw new StsError('MissingParameter', `Version must be ${version}, not "${given.slice(0, 32)}".`);
  }
}

function webIdentityRequest(parameters: ReadonlyMap<string, string>): WebIdentityRequest {
  const durationSeconds = parseDuration(parameters.get('DurationSeconds'));
  const policy = present(parameters, 'Policy');
  const roleArn = present(parameters, 'RoleArn');
  const accessToken = present(parameters, 'WebIdentityAccessToken');
  return {
    token: required(parameters, 'WebIdentityToken'),
    ...(durationSeconds === undefined ? {} : { durationSeconds }),
    ...(policy === undefined ? {} : { policy }),
    ...(roleArn === undefined ? {} : { roleArn }),
    ...(accessToken === undefined ? {} : { accessToken }),
  };
}

function required(parameters: ReadonlyMap<string, string>, name: string): string {
  const value = present(parameters, name);
  if (value === undefined) throw new StsError('MissingParameter', `The parameter ${name} is missing.`);
  return value;
}

/** Clients send empty parameters for those they were not given. */
function present(parameters: ReadonlyMap<string, string>, name: string): string | undefined {
  const value = parameters.get(name);
  return value === '' ? undefined : value;
}

function described({ credentials, expiration, roleArn }: AssumedRole) {
  const { accessKey, subject, sessionPolicy } = credentials.principal;
  const person =
    subject.kind === 'federated'
      ? { parent: subject.parent, provider: subject.provider, policies: subject.policies }
      : undefined;
  const narrowed = sessionPolicy !== undefined;
  return { accessKey, user: displayNameOf(credentials.principal), ...person, narrowed, expiration, roleArn };
}

function asRefusal(error: unknown): StsError {
  if (error instanceof StsError) return error;
  if (isUnavailable(error)) {
    return new StsError('ServiceUnavailable', 'The store cannot keep credentials now; try again.', { cause: error });
  }
  return new StsError('InternalError', 'We encountered an internal error. Please try again.', { cause: error });
}
