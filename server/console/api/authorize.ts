import { json, type Request, type Response } from 'express';
import type { z } from 'zod';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { decideOneOf } from '../../auth/authorize.ts';
import { type AccessRequest, type Decision, type Principal, subjectOf } from '../../auth/principal.ts';
import type { ConsoleLog, ConsoleServices } from '../services.ts';
import { connectionContext } from '../../auth/condition-keys.ts';
import { maxDocument } from './hold-bodies.ts';
import { originOf } from './request-source.ts';
import { watchOf } from './watch-visits.ts';
import { visitorOf } from './sign-in/visitor.ts';

/** The largest that a route takes; `hold-bodies` counts as much. */
const readJson = json({ limit: maxDocument });

/** Decides what the person behind a request may do, by the same actions and resources as the S3 API. */
export class Gate {
  readonly #access: ConsoleServices['access'];
  readonly #log: ConsoleLog;
  readonly #clock: ConsoleServices['clock'];

  constructor({ access, log, clock }: Pick<ConsoleServices, 'access' | 'log' | 'clock'>) {
    this.#access = access;
    this.#log = log;
    this.#clock = clock;
  }

  /** Whether it is allowed; nothing is logged, so that asking for the state of a button is no incident. */
  async allows(visit: Visit, action: string, resource: string, context: Context = {}): Promise<boolean> {
    return (await this.#decide(visit, { action, resource, context })).kind === 'allow';
  }

  /** Whether the person may do this for themselves: everybody may, unless a policy denies it. */
  async allowsOwn(visit: Visit, action: string): Promise<boolean> {
    return (await this.#decide(visit, { ...own, action })).kind === 'allow';
  }

  /**
   * Throws `AccessDenied`, naming the action, the resource and the person's own policies. Of several actions, which are names of one
   * right, one must be allowed and none may be denied.
   */
  async require(visit: Visit, action: Actions, resource: string, context: Context = {}): Promise<void> {
    await this.#require(visit, { action, resource, context });
  }

  /** Throws `AccessDenied` where no resource could be named, in the body that is still to be read, for which this is allowed. */
  async requireForSome(visit: Visit, action: string): Promise<void> {
    await this.#require(visit, { action, resource: '', context: {}, unknown: { below: true, keys: [] } });
  }

  async requireOwn(visit: Visit, action: string): Promise<void> {
    await this.#require(visit, { ...own, action });
  }

  async #require(visit: Visit, asked: Omit<Asked, 'action'> & { readonly action: Actions }): Promise<void> {
    const decided = await decideOneOf([asked.action].flat(), (action) => this.#decide(visit, { ...asked, action }));
    if (decided === undefined) return;
    const { action, decision } = decided;
    // The decision that counts comes with the resource, once the body is read.
    if (asked.unknown !== undefined && decision.kind === 'allow') return;
    const { resource } = asked;
    const watch = watchOf(visit.response);
    watch?.isFor(action.replace(/^.*:/, ''), placeOf(resource));
    watch?.decided({ action, resource }, decision);
    if (decision.kind === 'allow') return;
    const { accessKey, principal } = visitorOf(visit.response).credentials;
    this.#log.info({ accessKey, action, resource, reason: decision.reason }, 'the console refused a call');
    throw new S3Error('AccessDenied', refusal(await this.#policyNames(principal), action, resource));
  }

  async #policyNames(principal: Principal): Promise<readonly string[]> {
    const subject = subjectOf(principal);
    return subject === undefined ? [] : this.#access.identities.policiesOf(subject);
  }

  #decide({ request, response }: Visit, { context, ...asked }: Asked): Promise<Decision> {
    const { principal } = visitorOf(response).credentials;
    return this.#access.authorize({
      principal,
      ...asked,
      context: { ...contextOf(request, this.#clock()), ...context },
    });
  }
}

/** Reads a JSON document of that shape. Callers ask for rights first: a body of a caller without them is never read. */
export async function readForm<T>({ request, response }: Visit, schema: z.ZodType<T>): Promise<T> {
  await new Promise<void>((resolve, reject) => {
    readJson(request, response, (error?: unknown) => {
      if (error === undefined) resolve();
      else reject(error);
    });
  });
  return schema.parse(request.body);
}

/** `bucket/key`, or a bucket, as a resource names it. */
function placeOf(resource: string): { readonly bucket: string; readonly key: string } {
  const slash = resource.indexOf('/');
  if (slash < 0) return { bucket: resource === '*' ? '' : resource, key: '' };
  return { bucket: resource.slice(0, slash), key: resource.slice(slash + 1) };
}

interface Asked {
  readonly action: string;
  readonly resource: string;
  readonly context: Context;
  readonly allowedUnlessDenied?: boolean;
  readonly unknown?: NonNullable<AccessRequest['unknown']>;
}

const own = { resource: '', context: {}, allowedUnlessDenied: true } as const;

type Actions = string | readonly string[];

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

function contextOf(request: Request, now: Date): Record<string, readonly string[]> {
  const context: Record<string, readonly string[]> = {
    ...connectionContext(originOf(request), now),
  };
  const userAgent = request.get('user-agent');
  if (userAgent !== undefined) context['aws:UserAgent'] = [userAgent];
  return context;
}

/** Either right: older policies have the first, newer ones the second. */
export const mayAttach = ['admin:UpdatePolicyAssociation', 'admin:AttachUserOrGroupPolicy'] as const;
