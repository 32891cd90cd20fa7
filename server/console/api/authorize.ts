import type { Request, Response } from 'express';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { Decision, Principal } from '../../access/principal.ts';
import { subjectOf } from '../../access/subject-of.ts';
import type { ConsoleLog, ConsoleServices } from '../services.ts';
import { isEncrypted } from './secure.ts';
import { visitorOf } from './visitor.ts';

/** Decides what the person behind a request may do, by the same actions and resources as the S3 API. */
export class Gate {
  readonly #access: ConsoleServices['access'];
  readonly #log: ConsoleLog;

  constructor(access: ConsoleServices['access'], log: ConsoleLog) {
    this.#access = access;
    this.#log = log;
  }

  /** Whether it is allowed; nothing is logged, so that asking for the state of a button is no incident. */
  async allows(visit: Visit, action: string, resource: string, context: Context = {}): Promise<boolean> {
    return (await this.#decide(visit, action, resource, context)).kind === 'allow';
  }

  /** Throws `AccessDenied`, naming the action, the resource and the person's own policies. */
  async require(visit: Visit, action: string, resource: string, context: Context = {}): Promise<void> {
    const decision = await this.#decide(visit, action, resource, context);
    if (decision.kind === 'allow') return;
    const { accessKey, principal } = visitorOf(visit.response).credentials;
    this.#log.info({ accessKey, action, resource, reason: decision.reason }, 'the console refused a call');
    throw new S3Error('AccessDenied', refusal(await this.#policyNames(principal), action, resource));
  }

  async #policyNames(principal: Principal): Promise<readonly string[]> {
    const subject = subjectOf(principal);
    return subject === undefined ? [] : this.#access.identities.policiesOf(subject);
  }

  #decide({ request, response }: Visit, action: string, resource: string, context: Context): Promise<Decision> {
    const { principal } = visitorOf(response).credentials;
    return this.#access.authorize({ principal, action, resource, context: { ...contextOf(request), ...context } });
  }
}

/** Condition keys of a request. */
type Context = Readonly<Record<string, readonly string[]>>;

/** A request with its answer under way. */
export interface Visit {
  readonly request: Request;
  readonly response: Response;
}

function refusal(names: readonly string[], action: string, resource: string): string {
  const policies =
    names.length === 0
      ? 'No policy of yours allows'
      : `Your ${names.length === 1 ? 'policy' : 'policies'} (${names.join(', ')}) ${names.length === 1 ? 'does' : 'do'} not allow`;
  const place = resource === '' || resource === '*' ? '' : ` on ${resource}`;
  return `${policies} ${action}${place}. Whoever manages access here can change that.`;
}

function contextOf(request: Request): Record<string, readonly string[]> {
  const context: Record<string, readonly string[]> = {
    'aws:SecureTransport': [String(isEncrypted(request))],
  };
  if (request.socket.remoteAddress !== undefined) {
    context['aws:SourceIp'] = [request.socket.remoteAddress.replace(/^::ffff:/, '')];
  }
  const userAgent = request.get('user-agent');
  if (userAgent !== undefined) context['aws:UserAgent'] = [userAgent];
  return context;
}
