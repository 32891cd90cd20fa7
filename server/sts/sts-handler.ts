import type { StructuredLog } from '../../platform/output/structured-log.ts';
import type { RequestHandler } from '../http/contract/request.ts';
import { isUnavailable } from '../auth/access.ts';
import { displayNameOf, subjectOf } from '../auth/principal.ts';
import type { TemporaryCredentials } from '../auth/temporary-credentials-record.ts';
import { type StsAction, type StsParameters, stsParameters } from './sts-request.ts';
import { stsAnswer, stsErrorAnswer, stsError, isStsError } from './sts-error.ts';
import type { RequestError } from '../../protocol/request-error.ts';

interface StsHandlerOptions {
  readonly actions: readonly StsAction[];
  readonly log: StsLog;
}

/** The logger methods that STS calls. */
type StsLog = Pick<StructuredLog, 'debug' | 'info' | 'warn' | 'error'>;

const version = '2011-06-15';

/** The STS API: `POST /` with a form. Errors are XML; the log has the same message. */
export function createStsHandler({ actions, log }: StsHandlerOptions): RequestHandler {
  return async (request) => {
    const { requestId, remoteAddress, audit } = request;
    let action: StsAction | undefined;
    try {
      const parameters = await stsParameters(request);
      action = actionOf(parameters, actions);
      audit?.setOperation(action.name);
      const { result, granted } = await action.serve(parameters, request);
      if (granted !== undefined) {
        const fields = { requestId, remoteAddress, action: action.name, ...described(granted) };
        log.info(fields, 'temporary credentials were made');
      }
      return stsAnswer(action.name, result, requestId);
    } catch (error) {
      const refusal = asRefusal(error);
      audit?.setError({ code: refusal.code, message: refusal.message });
      const fields = { requestId, remoteAddress, code: refusal.code, ...reasonOf(refusal) };
      if (refusal.code === 'InternalError') log.error({ ...fields, err: error }, 'STS failed');
      // Any caller can send what is not a login, and would fill the log.
      else if (action === undefined) log.debug(fields, `no request for credentials: ${refusal.message}`);
      else log.warn(fields, `no temporary credentials: ${refusal.message}`);
      return stsErrorAnswer(refusal, requestId);
    }
  };
}

function actionOf(parameters: StsParameters, actions: readonly StsAction[]): StsAction {
  const name = parameters.required('Action');
  const action = actions.find((one) => one.name === name);
  if (action === undefined) {
    const known = actions.map((one) => one.name).join(', ');
    throw stsError('InvalidAction', `There is no action "${name.slice(0, 64)}"; there are ${known}.`);
  }
  const given = parameters.required('Version');
  if (given === version) return action;
  throw stsError('MissingParameter', `Version must be ${version}, not "${given.slice(0, 32)}".`);
}

function described({ principal }: TemporaryCredentials) {
  const { accessKey, sessionPolicy, expiration } = principal;
  const subject = subjectOf(principal);
  const external =
    subject?.kind === 'federated'
      ? { parent: subject.parent, provider: subject.provider, policies: subject.policies, targets: subject.targets }
      : undefined;
  return {
    accessKey,
    user: displayNameOf(principal),
    ...external,
    hasSessionPolicy: sessionPolicy !== undefined,
    expiration,
  };
}

/** The policy that denied it, for the log only. */
function reasonOf({ code, cause }: RequestError): { readonly reason?: string } {
  return code === 'AccessDenied' && cause instanceof Error ? { reason: cause.message } : {};
}

function asRefusal(error: unknown): RequestError {
  if (isStsError(error)) return error;
  if (isUnavailable(error)) {
    return stsError('ServiceUnavailable', 'The store cannot keep credentials now; try again.', { cause: error });
  }
  return stsError('InternalError', 'We encountered an internal error. Please try again.', { cause: error });
}
