import type { StillUnknown } from '../../protocol/policy/could-allow.ts';
import { parseResourcePath } from '../../protocol/s3/names.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { RequestHandler, IncomingRequest, RequestWatch } from '../http/contract/request.ts';
import type { Authenticate, AuthenticatedRequest } from '../auth/authenticate.ts';
import type { Access, AccessRequest, Decision, Principal } from '../auth/principal.ts';
import type { ObjectLayer } from '../objects/object-layer.ts';
import { createAddressStyleCheck, parseQuery, type Query, headersWithPresigned } from './request.ts';
import { checkRequest } from './check-request.ts';
import { findOperation, type Level } from './routes.ts';
import type { Operation, PolicyContext, S3Call, ExplicitObjectLayer } from './operation.ts';
import { requestContext } from './request-context.ts';

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
