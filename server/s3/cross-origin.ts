import type { IncomingHttpHeaders } from 'node:http';
import { corsMethods, type CorsRule, findCorsRule } from '../../protocol/s3/bucket-cors.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { Answer, IncomingRequest } from '../http/contract/request.ts';
import { varyByOrigin as vary } from '../http/contract/vary-by-origin.ts';
import type { ObjectLayer } from '../objects/contract/object-layer.ts';
import { emptyAnswer } from './answers.ts';
import { header, resourceOf } from './request.ts';

type Headers = Readonly<Record<string, string>>;

/** The name of a preflight in metrics and the audit log. */
export const preflightName = 'Preflight';

/** The headers that scripts may read where the setting of the server decides. `*` counts for requests without credentials alone. */
const exposedByDefault = (
  '* Accept-Ranges Content-Disposition Content-Encoding Content-Length Content-Range Date ETag Retry-After Server ' +
  'x-amz-bucket-region x-amz-checksum-crc32 x-amz-checksum-crc32c x-amz-checksum-crc64nvme x-amz-checksum-sha1 ' +
  'x-amz-checksum-sha256 x-amz-checksum-type x-amz-delete-marker x-amz-id-2 x-amz-request-id ' +
  'x-amz-server-side-encryption x-amz-version-id'
).split(' ');

/** A preflight with more names than a page can mean is compared with no rule. */
const maxAnnounced = 100;

/** A rule that allows a request, and whether pages may send it with credentials. */
interface Permission {
  readonly rule: CorsRule;
  readonly allowOrigin: string;
  readonly credentials: boolean;
}

/**
 * Decides which pages of other origins may use the server (CORS). The configuration of a bucket decides about the bucket. Without one, and for
 * requests without a bucket, the setting of the server decides.
 */
export class CrossOrigin {
  readonly #objects: Pick<ObjectLayer, 'getBucketCors'>;
  readonly #byDefault: readonly CorsRule[];

  /** @param origins the origins that the setting allows, each with at most one `*` */
  constructor(objects: Pick<ObjectLayer, 'getBucketCors'>, origins: readonly string[]) {
    this.#objects = objects;
    const rule: CorsRule = { origins, methods: [...corsMethods], headers: ['*'], exposed: exposedByDefault };
    this.#byDefault = origins.length === 0 ? [] : [rule];
  }

  /**
   * Returns the headers for the answer to a request with `Origin`, errors included. Never rejects: a bucket that cannot be read allows
   * nothing, and neither does the admin API. A preflight has its own.
   */
  async headersOf(request: IncomingRequest): Promise<Headers> {
    const isAdmin = request.hostStyle === undefined && request.rawPath.startsWith('/minio/');
    if (request.method === 'OPTIONS' || isAdmin) return {};
    try {
      const { bucket } = resourceOf(request);
      const rules = bucket === undefined ? undefined : await this.#rulesOf(bucket);
      const permission = this.#find(request, { bucket, rules, headers: [] });
      return permission === undefined ? { vary } : responseHeaders(permission);
    } catch {
      return { vary };
    }
  }

  /**
   * Answers a preflight. It needs no signature, and reveals nothing about a bucket without a configuration, or one that does not exist.
   *
   * @throws S3Error BadRequest, AccessForbidden
   * @see https://docs.aws.amazon.com/AmazonS3/latest/API/RESTOPTIONSobject.html
   */
  async preflight(request: IncomingRequest): Promise<Answer> {
    const { bucket, key } = resourceOf(request);
    if (header(request.headers, 'origin') === undefined) {
      throw new S3Error('BadRequest', 'Insufficient information. Origin request header needed.');
    }
    const method = header(request.headers, 'access-control-request-method');
    if (method === undefined) throw new S3Error('BadRequest', 'Invalid Access-Control-Request-Method: null');
    const announced = announcedHeaders(request.headers);
    const rules = bucket === undefined ? undefined : await this.#rulesOf(bucket);
    if (rules !== undefined && !corsMethods.has(method)) {
      throw new S3Error('BadRequest', `Invalid Access-Control-Request-Method: ${method.slice(0, 64)}`);
    }
    const permission =
      announced.length > maxAnnounced ? undefined : this.#find(request, { bucket, rules, headers: announced });
    if (permission !== undefined) {
      return emptyAnswer(200, {
        ...responseHeaders(permission),
        ...(announced.length > 0 && { 'access-control-allow-headers': announced.join(', ') }),
      });
    }
    throw new S3Error('AccessForbidden', rules === undefined ? undefined : notAllowed, {
      details: {
        Method: method.slice(0, 64),
        ResourceType: rules === undefined || key === undefined ? 'BUCKET' : 'OBJECT',
      },
      headers: { vary },
    });
  }

  /** Undefined for a bucket without a configuration, and for one that does not exist. */
  async #rulesOf(bucket: string): Promise<readonly CorsRule[] | undefined> {
    try {
      return await this.#objects.getBucketCors(bucket);
    } catch (error) {
      if (error instanceof S3Error && error.code === 'NoSuchBucket') return undefined;
      throw error;
    }
  }

  #find(
    { headers: given, method }: IncomingRequest,
    {
      bucket,
      rules,
      headers,
    }: {
      readonly bucket: string | undefined;
      readonly rules: readonly CorsRule[] | undefined;
      readonly headers: readonly string[];
    },
  ): Permission | undefined {
    const origin = header(given, 'origin') ?? '';
    // S3 compares this header for actual requests as well. Browsers send it with preflights alone.
    const asked = header(given, 'access-control-request-method') ?? method;
    const rule = findCorsRule(rules ?? this.#byDefault, { origin, method: asked, headers });
    if (rule === undefined) return undefined;
    if (rules !== undefined && rule.origins.includes('*')) return { rule, allowOrigin: '*', credentials: false };
    // A client certificate is a credential for STS, whose path names no bucket: a page must not use that of its visitor.
    return { rule, allowOrigin: origin, credentials: bucket !== undefined };
  }
}

const notAllowed =
  'CORSResponse: This CORS request is not allowed. This is usually because the evalution of Origin, request method / ' +
  "Access-Control-Request-Method or Access-Control-Request-Headers are not whitelisted by the resource's CORS spec.";

function announcedHeaders(headers: IncomingHttpHeaders): readonly string[] {
  return (header(headers, 'access-control-request-headers') ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
}

function responseHeaders({ rule, allowOrigin, credentials }: Permission): Headers {
  return {
    'access-control-allow-origin': allowOrigin,
    'access-control-allow-methods': rule.methods.join(', '),
    ...(rule.exposed.length > 0 && { 'access-control-expose-headers': rule.exposed.join(', ') }),
    ...(rule.maxAgeSeconds !== undefined && { 'access-control-max-age': String(rule.maxAgeSeconds) }),
    ...(credentials && { 'access-control-allow-credentials': 'true' }),
    vary,
  };
}
