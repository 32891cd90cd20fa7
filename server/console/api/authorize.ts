import { json, type Request, type Response } from 'express';
import type { z } from 'zod';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { decideOneOf } from '../../auth/authorize.ts';
import { type AccessRequest, type Decision, type Principal, subjectOf } from '../../auth/principal.ts';
import type { ConsoleLog, ConsoleServices } from '../services.ts';
import { connectionContext } from '../../auth/condition-keys.ts';
import { maxDocumentBytes } from './limit-body-memory.ts';
import { originOf } from './request-source.ts';
import { watchOf } from './observe-requests.ts';
import { currentSession } from './sign-in/current-session.ts';

/** `limit-body-memory` counts as many bytes. */
const readJson = json({ limit: maxDocumentBytes });

/** Authorizes the calls of the console, by the actions and resources of the S3 API and the admin API. */
export class Authorizer {
  readonly #access: ConsoleServices['access'];
  readonly #log: ConsoleLog;
  readonly #clock: ConsoleServices['clock'];

  constructor({ access, log, clock }: Pick<ConsoleServices, 'access' | 'log' | 'clock'>) {
    this.#access = access;
    this.#log = log;
    this.#clock = clock;
  }

  /** Reports whether the call is allowed. It logs nothing: the web application asks for the state of its buttons. */
  async allows(exchange: Exchange, action: string, resource: string, context: Context = {}): Promise<boolean> {
    return (await this.#decide(exchange, { action, resource, context })).kind === 'allow';
  }

  /** Reports whether users may do this for themselves. It is allowed unless a policy denies it. */
  async allowsOwn(exchange: Exchange, action: string): Promise<boolean> {
    return (await this.#decide(exchange, { ...own, action })).kind === 'allow';
  }

  /**
   * Throws `AccessDenied`, which names the action, the resource and the user's policies. Of several actions, which name the same right,
   * one must be allowed and none denied.
   */
  async require(exchange: Exchange, action: Actions, resource: string, context: Context = {}): Promise<void> {
    await this.#require(exchange, { action, resource, context });
  }

  /** Throws `AccessDenied` if the action is allowed for no resource at all. Routes call it before they read a body that names the resource. */
  async requireForSome(exchange: Exchange, action: string): Promise<void> {
    await this.#require(exchange, { action, resource: '', context: {}, unknown: { below: true, keys: [] } });
  }

  async requireOwn(exchange: Exchange, action: string): Promise<void> {
    await this.#require(exchange, { ...own, action });
  }

  async #require(exchange: Exchange, asked: Omit<Asked, 'action'> & { readonly action: Actions }): Promise<void> {
    const decided = await decideOneOf([asked.action].flat(), (action) => this.#decide(exchange, { ...asked, action }));
    if (decided === undefined) return;
    const { action, decision } = decided;
    // The route asks again with the resource when it has read the body.
    if (asked.unknown !== undefined && decision.kind === 'allow') return;
    const { resource } = asked;
    const watch = watchOf(exchange.response);
    watch?.isFor(action.replace(/^.*:/, ''), placeOf(resource));
    watch?.decided({ action, resource }, decision);
    if (decision.kind === 'allow') return;
    const { accessKey, principal } = currentSession(exchange.response).credentials;
    this.#log.info({ accessKey, action, resource, reason: decision.reason }, 'the console refused a call');
    throw new S3Error('AccessDenied', refusal(await this.#policyNames(principal), action, resource));
  }

  async #policyNames(principal: Principal): Promise<readonly string[]> {
    const subject = subjectOf(principal);
    return subject === undefined ? [] : this.#access.identities.policiesOf(subject);
  }

  #decide({ request, response }: Exchange, { context, ...asked }: Asked): Promise<Decision> {
    const { principal } = currentSession(response).credentials;
    return this.#access.authorize({
      principal,
      ...asked,
      context: { ...contextOf(request, this.#clock()), ...context },
    });
  }
}

/** Reads a JSON body and checks it. Routes authorize first, so that the body of a caller without rights is not read. */
export async function readForm<T>({ request, response }: Exchange, schema: z.ZodType<T>): Promise<T> {
  await new Promise<void>((resolve, reject) => {
    readJson(request, response, (error?: unknown) => {
      if (error === undefined) resolve();
      else reject(error);
    });
  });
  return schema.parse(request.body);
}

/** Splits a resource, `bucket/key` or `bucket`. */
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

/** A request with its response. */
export interface Exchange {
  readonly request: Request;
  readonly response: Response;
}

function refusal(names: readonly string[], action: string, resource: string): string {
  const policies =
    names.length === 0
      ? 'No policy of yours allows'
      : `Your ${names.length === 1 ? 'policy' : 'policies'} (${names.join(', ')}) ${names.length === 1 ? 'does' : 'do'} not allow`;
  const place = resource === '' || resource === '*' ? '' : ` on ${resource}`;
  return `${policies} ${action}${place}. An administrator can change that.`;
}

function contextOf(request: Request, now: Date): Record<string, readonly string[]> {
  const context: Record<string, readonly string[]> = {
    ...connectionContext(originOf(request), now),
  };
  const userAgent = request.get('user-agent');
  if (userAgent !== undefined) context['aws:UserAgent'] = [userAgent];
  return context;
}

/** Either right suffices: older policies name the first, newer ones the second. */
export const mayAttach = ['admin:UpdatePolicyAssociation', 'admin:AttachUserOrGroupPolicy'] as const;
