import { parseResourcePath } from '../../protocol/s3/names.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { RequestHandler } from '../access/answer.ts';
import type { Authenticate } from '../access/authenticate.ts';
import type { AuthenticatedRequest, IncomingRequest } from '../access/incoming-request.ts';
import type { Access, AccessRequest, Principal } from '../access/principal.ts';
import type { ObjectLayer } from '../objects/object-layer.ts';
import { findOperation } from './find-operation.ts';
import type { S3Call } from './operation.ts';
import { parseQuery } from './query.ts';
import type { Query } from './query.ts';
import { requestContext } from './request-context.ts';
import type { Level } from './routes.ts';

export interface S3Services {
  readonly objects: ObjectLayer;
  readonly access: Access;
  readonly authenticate: Authenticate;
  readonly region: string;
  readonly clock: () => Date;
}

/** The S3 API over the object layer: route, authenticate, authorize, do. */
export function createS3Api(services: S3Services): RequestHandler {
  return async (request) => {
    const query = parseQuery(request.rawQuery);
    const { bucket = '', key = '' } = parseResourcePath(request.rawPath);
    const isCopy = request.headers['x-amz-copy-source'] !== undefined;
    const operation = findOperation(request.method, levelOf(bucket, key), query, isCopy);
    request.measure?.isFor(operation.name);
    const auth = await services.authenticate(request);
    const call = createCall(services, request, auth, { query, bucket, key });
    if (operation.action !== undefined) {
      await call.require(operation.action, key === '' ? bucket : `${bucket}/${key}`);
    }
    return operation.handle(call);
  };
}

/** What is asked of the access room. */
class Asked implements AccessRequest {
  readonly principal: Principal;
  readonly action: string;
  readonly resource: string;
  readonly #makeContext: () => AccessRequest['context'];
  #context: AccessRequest['context'] | undefined;

  constructor(principal: Principal, action: string, resource: string, makeContext: () => AccessRequest['context']) {
    this.principal = principal;
    this.action = action;
    this.resource = resource;
    this.#makeContext = makeContext;
  }

  /** Made only when asked for: the root user's requests are decided without it. */
  get context(): AccessRequest['context'] {
    return (this.#context ??= this.#makeContext());
  }
}

function levelOf(bucket: string, key: string): Level {
  if (bucket === '') return 'service';
  return key === '' ? 'bucket' : 'object';
}

function createCall(
  services: S3Services,
  request: IncomingRequest,
  auth: AuthenticatedRequest,
  target: { readonly query: Query; readonly bucket: string; readonly key: string },
): S3Call {
  const context = () => requestContext(request, target.query, services.clock());
  const decide = (action: string, resource: string) =>
    services.access.authorize(new Asked(auth.principal, action, resource, context));
  return {
    ...target,
    request,
    auth,
    objects: services.objects,
    region: services.region,
    async allows(action, resource) {
      return (await decide(action, resource)).kind === 'allow';
    },
    async require(action, resource) {
      const decision = await decide(action, resource);
      if (decision.kind === 'deny') throw new S3Error('AccessDenied', undefined, { cause: decision.reason });
    },
  };
}
