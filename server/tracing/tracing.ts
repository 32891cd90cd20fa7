import { AsyncLocalStorage } from 'node:async_hooks';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api';
import type { RequestHandler } from '../access/answer.ts';
import type { IncomingRequest } from '../access/incoming-request.ts';
import type { FinishedRequest, RequestEvents } from '../access/request-events.ts';
import { traceParent } from './trace-parent.ts';

const rooms = { s3: 'S3', sts: 'STS', admin: 'Admin', console: 'Console', other: 'HTTP' } as const;

/** Spans of requests, and of what is done for them. */
export class Tracing {
  readonly #tracer: Tracer;
  readonly #current = new AsyncLocalStorage<Context>();
  readonly #requests = new WeakMap<FinishedRequest['request'], Span>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /** Has each request that is handled become a span, which ends when its answer does. */
  handler(inner: RequestHandler, events: RequestEvents): RequestHandler {
    events.subscribe((finished) => this.#finish(finished));
    return (request) => {
      const context = this.#begin(request);
      return this.#current.run(context, () => inner(request));
    };
  }

  /** A span around the work where it is done for a request that is traced; the work alone elsewhere. */
  async span<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
    const parent = this.#current.getStore();
    if (parent === undefined) return work();
    const span = this.#tracer.startSpan(name, { kind: SpanKind.INTERNAL, attributes }, parent);
    try {
      return await this.#current.run(trace.setSpan(parent, span), work);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
      throw error;
    } finally {
      span.end();
    }
  }

  /** The same for what goes on until `end` is called. */
  begin(name: string, attributes: Attributes): Span | undefined {
    const parent = this.#current.getStore();
    return parent && this.#tracer.startSpan(name, { kind: SpanKind.INTERNAL, attributes }, parent);
  }

  #begin(request: IncomingRequest): Context {
    const caller = traceParent(header(request, 'traceparent'));
    const parent = caller === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, caller);
    const userAgent = header(request, 'user-agent');
    const span = this.#tracer.startSpan(
      request.method,
      {
        kind: SpanKind.SERVER,
        attributes: {
          'http.request.method': request.method,
          // The query is left out: it may hold a signature.
          'url.path': request.rawPath,
          'url.scheme': request.secure ? 'https' : 'http',
          'client.address': request.remoteAddress,
          ...(userAgent === undefined ? {} : { 'user_agent.original': userAgent }),
          'aws.request_id': request.requestId,
        },
      },
      parent,
    );
    this.#requests.set(request, span);
    return trace.setSpan(parent, span);
  }

  #finish({ request, room, operation, bucket, key, status, outcome, refusal }: FinishedRequest): void {
    const span = this.#requests.get(request);
    if (span === undefined) return;
    if (operation !== undefined) span.updateName(`${rooms[room]}.${operation}`);
    if (status > 0) span.setAttribute('http.response.status_code', status);
    if (bucket !== undefined && bucket !== '') span.setAttribute('aws.s3.bucket', bucket);
    if (key !== undefined && key !== '') span.setAttribute('aws.s3.key', key);
    if (refusal !== undefined) span.setAttribute('error.type', refusal.code);
    if (status >= 500 || outcome === 'broken') span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  }
}

function header({ headers }: IncomingRequest, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
