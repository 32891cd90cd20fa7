import { json, type Request, type Response } from 'express';
import type { z } from 'zod';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { type AuthorizationContext, authorizeRequest, type Right } from '../../auth/authorize.ts';
import { type Decision, type Principal, subjectOf } from '../../auth/principal.ts';
import type { Administration, ConsoleLog, ConsoleServices, DeniedRight } from '../services.ts';
import type { Identities } from '../../auth/identities/identities.ts';
import { identitiesFor } from '../../administration/caller.ts';
import { consoleError } from './console-error.ts';
import { connectionContext } from '../../auth/condition-keys.ts';
import { maxDocumentBytes } from './limit-body-memory.ts';
import { originOf } from './request-source.ts';
import { auditOf } from './request-audit.ts';
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

  /** Reports whether the user has the right, under one of its names. It records nothing, because pages ask for the state of their buttons. */
  allows(exchange: Exchange, action: Right['action'], resource: string, conditions?: Context): Promise<boolean> {
    return this.#allows(exchange, { action, resource, conditions });
  }

  /** Reports whether the user may do this with some object below the prefix, for example `bucket/folder/`. */
  async allowsSome(exchange: Exchange, action: Right['action'], prefix: string): Promise<boolean> {
    return this.#allows(exchange, { action, resource: prefix, unknown: { below: true, keys: [] } });
  }

  /** Reports whether the user may do this with some object directly in the folder, for example `bucket/folder/`, and not only deeper. */
  async allowsDirectly(exchange: Exchange, action: string, folder: string): Promise<boolean> {
    return this.#allows(exchange, { action, resource: folder, unknown: { below: true, direct: true, keys: [] } });
  }

  /** Returns the message for the user about a right that was refused. */
  async explain({ response }: Exchange, { action, resource }: DeniedRight): Promise<string> {
    const { principal } = currentSession(response).credentials;
    return refusal(await this.#policyNames(principal), action, resource);
  }

  /** Reports whether the user may do this for the own account, which is allowed by default. */
  allowsOwn(exchange: Exchange, action: string): Promise<boolean> {
    return this.#allows(exchange, { ...own, action });
  }

  /**
   * Rejects with `AccessDenied`, which names the action, the resource and the user's policies. Of several actions, which are names of one
   * right, one must be allowed and none denied. Resolves with the id of the object whose ACL or tags the decision depends on: no other one
   * may be read or changed.
   */
  async require(
    exchange: Exchange,
    action: Right['action'],
    resource: string,
    conditions?: Context,
  ): Promise<string | undefined> {
    return this.#require(exchange, { action, resource, conditions });
  }

  /** Rejects with `AccessDenied` if no resource that the unread body could name would be allowed. */
  async requireForSome(exchange: Exchange, action: string): Promise<void> {
    await this.#require(exchange, { action, resource: '', unknown: { below: true, keys: [] } });
  }

  /** Reads an object. As in S3, only a user who may list the bucket learns that a key does not exist. */
  async hideAbsence<T>(exchange: Exchange, bucket: string, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      const isAbsent = error instanceof S3Error && error.code === 'NoSuchKey';
      const action = 's3:ListBucket';
      if (!isAbsent || (await this.allows(exchange, action, bucket))) throw error;
      throw new S3Error('AccessDenied', await this.explain(exchange, { action, resource: bucket }));
    }
  }

  async requireOwn(exchange: Exchange, action: string): Promise<void> {
    await this.#require(exchange, { ...own, action });
  }

  /** Decides a right, and records nothing. An allowed read or change is of the object that `objectId` names, as with `require`. */
  async decide(exchange: Exchange, action: string, resource: string): Promise<Decision | undefined> {
    return (await authorizeRequest(this.#access, this.#contextOf(exchange), { action, resource }))?.decision;
  }

  async #allows(exchange: Exchange, right: Right): Promise<boolean> {
    const decided = await authorizeRequest(this.#access, this.#contextOf(exchange), right);
    return decided?.decision.kind === 'allow';
  }

  async #require(exchange: Exchange, right: Right): Promise<string | undefined> {
    const audit = auditOf(exchange.response);
    const decided = await authorizeRequest(this.#access, { ...this.#contextOf(exchange), audit }, right);
    if (decided === undefined) return undefined;
    const { action, decision } = decided;
    // The final decision comes with the resource, when the body is read.
    if (right.unknown !== undefined && decision.kind === 'allow') return undefined;
    const { resource } = right;
    audit?.setOperation(action.replace(/^.*:/, ''), placeOf(resource));
    if (decision.kind === 'allow') return decision.objectId;
    const { accessKey, principal } = currentSession(exchange.response).credentials;
    this.#log.info({ accessKey, action, resource, reason: decision.reason }, 'the console refused a call');
    throw new S3Error('AccessDenied', refusal(await this.#policyNames(principal), action, resource));
  }

  async #policyNames(principal: Principal): Promise<readonly string[]> {
    const subject = subjectOf(principal);
    return subject === undefined ? [] : this.#access.identities.policiesOf(subject);
  }

  #contextOf({ request, response }: Exchange): AuthorizationContext {
    const { principal } = currentSession(response).credentials;
    return { principal, conditions: connectionContext(originOf(request), this.#clock(), request.get('user-agent')) };
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

/** Returns the identities as the user of the session may change them. */
export function identitiesOf({ response }: Exchange, { identities }: Pick<Administration, 'identities'>): Identities {
  const { principal } = currentSession(response).credentials;
  if (principal.kind === 'anonymous') throw consoleError('NotSignedIn', 'Sign in first.');
  return identitiesFor(principal, identities);
}

/** Splits a resource, `bucket/key` or `bucket`. */
function placeOf(resource: string): { readonly bucket: string; readonly key: string } {
  const slash = resource.indexOf('/');
  if (slash < 0) return { bucket: resource === '*' ? '' : resource, key: '' };
  return { bucket: resource.slice(0, slash), key: resource.slice(slash + 1) };
}

const own = { resource: '', allowedByDefault: true } as const;

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

/** Either right: older policies have the first, newer ones the second. */
export const mayAttach = ['admin:UpdatePolicyAssociation', 'admin:AttachUserOrGroupPolicy'] as const;
