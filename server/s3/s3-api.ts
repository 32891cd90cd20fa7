import type { IncomingHttpHeaders } from 'node:http';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { header, createAddressStyleCheck, parseQuery, type Query, headersWithPresigned } from './request.ts';
import type { S3Call, Operation, PolicyContext, ExplicitObjectLayer } from './operation.ts';
import { guardFamilies, guardsElsewhere, guardsOfWrites, requestTable, type Treatment } from './request-table.ts';
import type { StillUnknown } from '../../protocol/policy/could-allow.ts';
import { parseResourcePath } from '../../protocol/s3/names.ts';
import type { RequestHandler, IncomingRequest, RequestWatch } from '../http/contract/request.ts';
import type { Authenticate, AuthenticatedRequest } from '../auth/authenticate.ts';
import type { Access, AccessRequest, Decision, Principal } from '../auth/principal.ts';
import type { ObjectLayer } from '../objects/object-layer.ts';
import { findOperation, type Level } from './routes.ts';
import { requestContext } from './request-context.ts';

/** The check of a header or parameter; `undefined` when the operation itself reads it. */
type Rule = Exclude<Treatment, { readonly kind: 'harmless' }> | undefined;

/**
 * Refuses each header and parameter that the operation does not honour, and runs the checks that all operations share. It looks up each
 * header once, in a table that is made on the first request.
 *
 * @throws S3Error with the code of the table
 */
function checkRequest(operation: string, call: S3Call): void {
  const rules = rulesOf(operation);
  const { headers } = call.request;
  for (const name of Object.keys(headers)) {
    // All other headers describe the message, or the operation reads them.
    if (!name.startsWith('x-') && !name.startsWith('if-')) continue;
    if (rules.has(name)) apply(rules.get(name), name, headers, call);
    else if (guardFamilies.test(name)) throw unknownHeader(name);
  }
  for (const [name, value] of call.query) {
    const row = `?${name}`;
    const rule = rules.get(row);
    if (rule !== undefined) applyTo(rule, row, value, call);
  }
}

const ruleCache = new Map<string, ReadonlyMap<string, Rule>>();

function rulesOf(operation: string): ReadonlyMap<string, Rule> {
  const known = ruleCache.get(operation);
  if (known !== undefined) return known;
  const rules = new Map<string, Rule>();
  const isRead = /^(?:Get|Head|List)/.test(operation);
  for (const rows of [guardsElsewhere, isRead ? {} : guardsOfWrites, requestTable[operation] ?? {}]) {
    for (const [name, treatment] of Object.entries(rows)) rules.set(name, ruleOf(treatment));
  }
  ruleCache.set(operation, rules);
  return rules;
}

function ruleOf(treatment: Treatment): Rule {
  if (treatment.kind === 'harmless') return undefined;
  return treatment.kind === 'honoured' && treatment.check === undefined ? undefined : treatment;
}

function apply(rule: Rule, name: string, headers: IncomingHttpHeaders, call: S3Call): void {
  if (rule !== undefined) applyTo(rule, name, header(headers, name) ?? '', call);
}

function applyTo(rule: NonNullable<Rule>, name: string, value: string, call: S3Call): void {
  if (rule.kind === 'honoured') {
    rule.check?.(value, call);
    return;
  }
  if (rule.except.includes(value.toLowerCase())) return;
  const argument = name.startsWith('?') ? name.slice(1) : name;
  throw new S3Error(rule.code, messageOf(name, argument, rule), { details: { ArgumentName: argument } });
}

/** Uses the text of AWS if there is one. It does not repeat the value, which may be a key. */
function messageOf(name: string, argument: string, { code, why }: Extract<Rule, { readonly kind: 'refused' }>): string {
  if (name === '?versionId') return `This operation does not accept a version-id: ${why}.`;
  const what = name.startsWith('?') ? 'parameter' : 'header';
  return code === 'InvalidArgument'
    ? `${argument} ${what} is not supported for this operation: ${why}.`
    : `The ${what} ${argument} is not implemented: ${why}.`;
}

function unknownHeader(name: string): S3Error {
  return new S3Error('NotImplemented', `The header ${name.slice(0, 100)} is not implemented.`, {
    details: { ArgumentName: name.slice(0, 100) },
  });
}

export interface S3Services {
  readonly objects: ObjectLayer;
  readonly access: Access;
  readonly authenticate: Authenticate;
  readonly region: string;
  readonly clock: () => Date;
  /** Accepts customer keys (SSE-C) also over plain HTTP; false by default. */
  readonly customerKeysWithoutTls?: boolean;
  /** The host names by which clients reach this server, if known. */
  readonly servedNames?: readonly string[];
}

/** Creates the S3 API over the object layer: it routes, authenticates and authorizes a request, then runs its operation. */
export function createS3Api(services: S3Services): RequestHandler {
  const checkAddressStyle = createAddressStyleCheck(services.servedNames ?? []);
  return async (request) => {
    const problem = checkAddressStyle(request.headers.host);
    if (problem !== undefined) throw new S3Error('NotImplemented', problem);
    const query = parseQuery(request.rawQuery);
    const { bucket = '', key = '' } = parseResourcePath(request.rawPath);
    const headers = headersWithPresigned(request.headers, query);
    const isCopy = headers['x-amz-copy-source'] !== undefined;
    const operation = findOperation(request.method, levelOf(bucket, key), query, isCopy);
    request.measure?.isFor(operation.name, bucket);
    request.watch?.isFor(operation.name, { bucket, key });
    const auth = await services.authenticate(request, headers);
    request.watch?.isFrom(auth.principal);
    const whole = headers === request.headers ? request : { ...request, headers };
    const call = new Call(services, whole, auth, { query, bucket, key });
    if (operation.context !== undefined) await call.addContext(operation.context);
    if (operation.action !== undefined) {
      await call.require(operation.action, key === '' ? bucket : `${bucket}/${key}`);
    }
    checkRequest(operation.name, call);
    return operation.handle(call);
  };
}

/** A request to the authorizer. */
class LazyAccessRequest implements AccessRequest {
  readonly principal: Principal;
  readonly action: string;
  readonly resource: string;
  readonly unknown?: StillUnknown;
  readonly #makeContext: () => AccessRequest['context'];
  #context: AccessRequest['context'] | undefined;

  // oxlint-disable-next-line max-params -- made for each request: an object of its own would be one more
  constructor(
    principal: Principal,
    action: string,
    resource: string,
    makeContext: () => AccessRequest['context'],
    unknown?: StillUnknown,
  ) {
    if (unknown !== undefined) this.unknown = unknown;
    this.principal = principal;
    this.action = action;
    this.resource = resource;
    this.#makeContext = makeContext;
  }

  /** The context is made on demand, because the decision about the root user does not need it. */
  get context(): AccessRequest['context'] {
    return (this.#context ??= this.#makeContext());
  }
}

async function reportDecision(
  watch: RequestWatch,
  accessRequest: { readonly action: string; readonly resource: string },
  decision: Promise<Decision>,
): Promise<Decision> {
  const made = await decision;
  watch.decided(accessRequest, made);
  return made;
}

function levelOf(bucket: string, key: string): Level {
  if (bucket === '') return 'service';
  return key === '' ? 'bucket' : 'object';
}

/** A class shares its methods. An object literal would create new functions for each request. */
class Call implements S3Call {
  readonly request: IncomingRequest;
  readonly auth: AuthenticatedRequest;
  readonly query: Query;
  readonly bucket: string;
  readonly key: string;
  readonly #services: S3Services;
  #context: PolicyContext | undefined;

  constructor(
    services: S3Services,
    request: IncomingRequest,
    auth: AuthenticatedRequest,
    target: { readonly query: Query; readonly bucket: string; readonly key: string },
  ) {
    this.#services = services;
    this.request = request;
    this.auth = auth;
    this.query = target.query;
    this.bucket = target.bucket;
    this.key = target.key;
  }

  get objects(): ExplicitObjectLayer {
    return this.#services.objects;
  }

  get region(): string {
    return this.#services.region;
  }

  get servedNames(): readonly string[] {
    return this.#services.servedNames ?? [];
  }

  get allowsCustomerKeys(): boolean {
    return this.request.secure || this.#services.customerKeysWithoutTls === true;
  }

  async addContext(context: NonNullable<Operation['context']>): Promise<void> {
    this.#context = await context(this);
  }

  async allows(action: string, resource: string): Promise<boolean> {
    return (await this.#decide(action, resource)).kind === 'allow';
  }

  async require(action: string, resource: string, context?: PolicyContext): Promise<void> {
    const decision = await this.#decide(action, resource, context);
    if (decision.kind === 'deny') throw new S3Error('AccessDenied', undefined, { cause: decision.reason });
  }

  async requirePossible(action: string, resource: string, unknown: StillUnknown): Promise<void> {
    const accessRequest = new LazyAccessRequest(this.auth.principal, action, resource, this.#contextWith({}), unknown);
    const decision = await this.#services.access.authorize(accessRequest);
    if (decision.kind === 'allow') return;
    this.request.watch?.decided({ action, resource }, decision);
    throw new S3Error('AccessDenied', undefined, { cause: decision.reason });
  }

  #decide(action: string, resource: string, more: PolicyContext = {}): Promise<Decision> {
    const accessRequest = new LazyAccessRequest(this.auth.principal, action, resource, this.#contextWith(more));
    const decision = this.#services.access.authorize(accessRequest);
    const { watch } = this.request;
    return watch === undefined ? decision : reportDecision(watch, { action, resource }, decision);
  }

  #contextWith(more: PolicyContext): () => AccessRequest['context'] {
    return () => ({ ...requestContext(this.request, this.query, this.#services.clock()), ...this.#context, ...more });
  }
}
