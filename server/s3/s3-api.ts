import type { IncomingHttpHeaders } from 'node:http';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { header, parseQuery, type Query, headersWithPresigned, resourceOf } from './request.ts';
import type {
  ListenedEvents,
  Replications,
  S3Call,
  FormObject,
  Operation,
  PolicyContext,
  ExplicitObjectLayer,
  VersionActions,
} from './operation.ts';
import {
  accountTable,
  guardFamilies,
  guardsElsewhere,
  guardsOfWrites,
  requestTable,
  type Treatment,
} from './request-table.ts';
import type { StillUnknown } from '../../protocol/policy/could-allow.ts';
import type { Answer, RequestHandler, IncomingRequest, AuditContext } from '../http/contract/request.ts';
import type { AuthenticateForm, FormSender } from '../auth/authenticate-form.ts';
import type { FormFields } from '../../protocol/s3/post/post-policy.ts';
import type { Authenticate, AuthenticatedRequest } from '../auth/access.ts';
import { type Access, canonicalIdOf, type Principal } from '../auth/principal.ts';
import {
  type AuthorizationContext,
  authorizeRequest,
  requireObjectRight,
  requireRight,
  type Right,
} from '../auth/authorize.ts';
import { currentPrincipal, whileAllowed } from '../auth/while-allowed.ts';
import type { EventOrigin } from '../objects/contract/event-caller.ts';
import type { ObjectLayer, SettingCondition } from '../objects/contract/object-layer.ts';
import type { ControlOperation } from './control/control-operations.ts';
import { type CannedAclRule, ignoreCannedAcls } from './acl/canned-acl-rule.ts';
import { type CrossOrigin, preflightName } from './cross-origin.ts';
import { findOperation, type Level } from './routes.ts';
import { defaultQueryBudget, type QueryBudget } from '../select/query-budget.ts';
import { requestContext } from './request-context.ts';
import { handleSetting } from './setting-condition.ts';

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
  for (const rows of [
    guardsElsewhere,
    isRead ? {} : guardsOfWrites,
    requestTable[operation] ?? accountTable[operation] ?? {},
  ]) {
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
  const details: Record<string, string> = { ArgumentName: argument };
  if (!name.startsWith('?')) {
    if (rule.code === 'NotImplemented') details['Header'] = argument;
  } else if (rule.code === 'InvalidArgument') {
    // Not that of a header, which may be a key.
    details['ArgumentValue'] = value.slice(0, 100);
  }
  throw new S3Error(rule.code, messageOf(name, argument, rule), { details });
}

/** Uses the text of AWS if there is one. It does not repeat the value, which may be a key. */
function messageOf(name: string, argument: string, { code, why }: Extract<Rule, { readonly kind: 'refused' }>): string {
  if (name === '?versionId') return 'This operation does not accept a version-id.';
  const what = name.startsWith('?') ? 'parameter' : 'header';
  return code === 'InvalidArgument'
    ? `${argument} ${what} is not supported for this operation: ${why}.`
    : `The ${what} ${argument} is not implemented: ${why}.`;
}

function unknownHeader(name: string): S3Error {
  return new S3Error('NotImplemented', `The header ${name.slice(0, 100)} is not implemented.`, {
    details: { ArgumentName: name.slice(0, 100), Header: name.slice(0, 100) },
  });
}

export interface S3Services {
  readonly objects: ObjectLayer;
  readonly access: Access;
  readonly authenticate: Authenticate;
  readonly authenticateForm: AuthenticateForm;
  readonly region: string;
  /** The region is set: buckets are in no other one. By default clients may ask for any. */
  readonly hasRegion?: boolean;
  readonly clock: () => Date;
  /** Accepts customer keys (SSE-C) also over plain HTTP; false by default. */
  readonly customerKeysWithoutTls?: boolean;
  /** The budget of a query of S3 Select; the default of the settings where it is absent. */
  readonly queryBudget?: QueryBudget;
  /** By default canned ACLs are ignored where ACLs do not count. */
  readonly cannedAcls?: CannedAclRule;
  /** Answers preflights. */
  readonly crossOrigin: CrossOrigin;
  /** The host names by which clients reach this server, if known. */
  readonly servedNames?: readonly string[];
  /** The targets of notifications, each `ID:TYPE`. */
  readonly notificationTargets?: readonly string[];
  readonly listenedEvents?: ListenedEvents;
  readonly replications?: Replications;
}

/** Creates the S3 API over the object layer: it routes, authenticates and authorizes a request, then runs its operation. */
export function createS3Api(services: S3Services): RequestHandler {
  return async (request) => {
    if (request.method === 'OPTIONS') {
      request.measure?.isFor(preflightName);
      request.audit?.setOperation(preflightName);
      return services.crossOrigin.preflight(request);
    }
    const query = parseQuery(request.rawQuery);
    const account = request.headers['x-amz-account-id'] === undefined ? undefined : await ofAccount(request);
    const { bucket = '', key = '' }: ReturnType<typeof resourceOf> = account ?? resourceOf(request);
    const headers = headersWithPresigned(request.headers, query);
    const isCopy = headers['x-amz-copy-source'] !== undefined;
    const operation = account?.operation ?? findOperation(request.method, levelOf(bucket, key), query, isCopy);
    request.measure?.isFor(operation.name, bucket);
    request.audit?.setOperation(operation.name, { bucket, key });
    const auth = await services.authenticate(request, headers);
    request.audit?.setPrincipal(auth.principal);
    const whole = headers === request.headers ? request : { ...request, headers };
    const { createsObject } = operation;
    const call = new Call(services, whole, auth, { query, bucket, key, createsObject });
    if (operation.context !== undefined) await call.addContext(operation.context);
    const { action, versionAction } = operation;
    if (action !== undefined) {
      const resource = key === '' ? bucket : `${bucket}/${key}`;
      if (versionAction === undefined) await call.require(action, resource);
      else await call.requireVersion({ action, versionAction }, resource, query.get('versionId'));
    }
    call.checkHeaders(operation.name);
    const { setting } = operation;
    const answer = setting === undefined ? await operation.handle(call) : await handleSetting(call, operation, setting);
    return answer.body.kind === 'endless' ? whileRightLasts(call, operation, answer, answer.body.chunks) : answer;
  };
}

/** Ends an endless answer when the caller has no right to the operation any more. */
function whileRightLasts(
  call: Call,
  { action }: Operation,
  answer: Answer,
  chunks: (gone: AbortSignal) => AsyncIterable<Buffer>,
): Answer {
  const isAllowed = async () => {
    const now = await call.asNow();
    return now !== undefined && (action === undefined || now.allows(action, call.bucket));
  };
  return { ...answer, body: { kind: 'endless', chunks: whileAllowed(chunks, isAllowed) } };
}

/** Returns the operation of S3 Control that a request asks for. Its code is loaded with the first one, since most servers never need it. */
async function ofAccount(request: IncomingRequest): Promise<ControlOperation | undefined> {
  const { controlOperation } = await import('./control/control-operations.ts');
  return controlOperation(request);
}

function levelOf(bucket: string, key: string): Level {
  if (bucket === '') return 'service';
  return key === '' ? 'bucket' : 'object';
}

/** A class shares its methods. An object literal would create new functions for each request. */
class Call implements S3Call, AuthorizationContext {
  readonly request: IncomingRequest;
  readonly auth: AuthenticatedRequest;
  readonly query: Query;
  readonly bucket: string;
  readonly key: string;
  grantedObject: string | undefined;
  readonly #services: S3Services;
  readonly #createsObject: boolean | undefined;
  #context: PolicyContext | undefined;
  #conditional: ObjectLayer | undefined;

  constructor(
    services: S3Services,
    request: IncomingRequest,
    auth: AuthenticatedRequest,
    target: Pick<Operation, 'createsObject'> & Pick<S3Call, 'query' | 'bucket' | 'key'>,
  ) {
    this.#services = services;
    this.request = request;
    this.auth = auth;
    this.query = target.query;
    this.bucket = target.bucket;
    this.key = target.key;
    this.#createsObject = target.createsObject;
  }

  authenticateForm(fields: FormFields): Promise<FormSender | undefined> {
    return this.#services.authenticateForm(fields);
  }

  ofForm({ key, headers, sender, body, size }: FormObject): Call {
    const { audit } = this.request;
    const principal = sender?.principal ?? this.principal;
    audit?.setOperation('PostObject', { bucket: this.bucket, key });
    audit?.setPrincipal(principal);
    if (sender !== undefined) audit?.setSignature(sender.signature);
    const target = { query: this.query, bucket: this.bucket, key, createsObject: true };
    const call = new Call(this.#services, { ...this.request, headers }, { principal, body, size }, target);
    if (sender !== undefined) {
      call.#context = {
        's3:authType': ['POST'],
        's3:signatureversion': [sender.signature.version === 'SigV4' ? 'AWS4-HMAC-SHA256' : 'AWS'],
        's3:signatureAge': [String(sender.signatureAge)],
        // The signature does not cover the file.
        's3:x-amz-content-sha256': ['UNSIGNED-PAYLOAD'],
      };
    }
    return call;
  }

  checkHeaders(operation: string): void {
    checkRequest(operation, this);
  }

  /** Returns the call with its caller as the identities have it now. The audit has the decisions of the first call alone. */
  async asNow(): Promise<Call | undefined> {
    const principal = await currentPrincipal(this.#services.access, this.principal);
    if (principal === undefined) return undefined;
    const { query, bucket, key } = this;
    const target = { query, bucket, key, createsObject: this.#createsObject };
    return new Call(this.#services, { ...this.request, audit: undefined }, { ...this.auth, principal }, target);
  }

  get objects(): ExplicitObjectLayer {
    return this.#conditional ?? this.#services.objects;
  }

  expect(condition: SettingCondition): void {
    this.#conditional = this.#services.objects.expecting(condition);
  }

  get region(): string {
    return this.#services.region;
  }

  get hasRegion(): boolean {
    return this.#services.hasRegion === true;
  }

  get notificationTargets(): readonly string[] {
    return this.#services.notificationTargets ?? [];
  }

  get listenedEvents(): ListenedEvents | undefined {
    return this.#services.listenedEvents;
  }

  get replications(): Replications | undefined {
    return this.#services.replications;
  }

  get queryBudget(): QueryBudget {
    return this.#services.queryBudget ?? defaultQueryBudget;
  }

  get cannedAcls(): CannedAclRule {
    return this.#services.cannedAcls ?? ignoreCannedAcls;
  }

  eventOrigin(): EventOrigin {
    const { principal } = this.auth;
    const { remoteAddress, requestId, headers } = this.request;
    return {
      principal: principal.kind === 'anonymous' ? '' : principal.accessKey,
      address: remoteAddress,
      requestId,
      userAgent: header(headers, 'user-agent'),
    };
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

  get principal(): Principal {
    return this.auth.principal;
  }

  canonicalId(): string | undefined {
    return canonicalIdOf(this.auth.principal);
  }

  get audit(): AuditContext | undefined {
    return this.request.audit;
  }

  /** Computed only when it is read: the root user's requests are decided without it. */
  get conditions(): PolicyContext {
    const creates = this.#createsObject;
    return {
      ...requestContext(this.request, this.auth.principal, this.query, this.#services.clock()),
      ...(creates === undefined ? {} : { 's3:ObjectCreationOperation': [String(creates)] }),
      ...this.#context,
    };
  }

  get now(): Date {
    return this.#services.clock();
  }

  allows(action: string, resource: string, conditions?: PolicyContext): Promise<boolean> {
    return this.#isAllowed({ action, resource, conditions });
  }

  allowsVersion(actions: VersionActions, resource: string, versionId: string | undefined): Promise<boolean> {
    return this.#isAllowed(rightToVersion(actions, resource, versionId));
  }

  async allowsAnyObject(actions: VersionActions, resource: string, versionId: string | undefined): Promise<boolean> {
    const right = rightToVersion(actions, resource, versionId);
    const decision = (await authorizeRequest(this.#services.access, this, right))?.decision;
    return decision?.kind === 'allow' && decision.objectId === undefined;
  }

  async #isAllowed(right: Right): Promise<boolean> {
    return (await authorizeRequest(this.#services.access, this, right))?.decision.kind === 'allow';
  }

  async require(action: string, resource: string, conditions?: PolicyContext): Promise<void> {
    this.#bind(await requireObjectRight(this.#services.access, this, { action, resource, conditions }), resource);
  }

  async requireAclOfNewObject(): Promise<void> {
    const resource = `${this.bucket}/${this.key}`;
    const right = { action: 's3:PutObjectAcl', resource, ofNewObject: true };
    this.#bind(await requireObjectRight(this.#services.access, this, right), resource);
  }

  async requireVersion(
    actions: VersionActions,
    resource: string,
    versionId: string | undefined,
    context?: PolicyContext,
  ): Promise<string | undefined> {
    const right = rightToVersion(actions, resource, versionId, context);
    const id = await requireObjectRight(this.#services.access, this, right);
    // The source of a copy may be another version of the same key.
    if (versionId === this.query.get('versionId')) this.#bind(id, resource);
    return id;
  }

  /** Binds the request to the object on which a decision depends. Decisions on two objects were made before and after a replacement. */
  #bind(id: string | undefined, resource: string): void {
    if (id === undefined || resource !== `${this.bucket}/${this.key}`) return;
    if (this.grantedObject !== undefined && this.grantedObject !== id) {
      throw new S3Error('SlowDown', 'The object was replaced while the request was authorized; try again.');
    }
    this.grantedObject = id;
  }

  requirePossible(action: string | readonly string[], resource: string, unknown: StillUnknown): Promise<void> {
    return requireRight(this.#services.access, this, { action, resource, unknown });
  }

  async requireAll(rights: readonly Right[]): Promise<void> {
    for (const right of rights) await requireRight(this.#services.access, this, right);
  }
}

function rightToVersion(
  { action, versionAction }: VersionActions,
  resource: string,
  versionId: string | undefined,
  context?: PolicyContext,
): Right {
  if (versionId === undefined) return { action, resource, conditions: context };
  const conditions = { ...context, 's3:versionid': [versionId] };
  return { action: versionAction, alsoDeniedBy: action, resource, conditions };
}
