import {
  type SpanContext,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestHandler, IncomingRequest, FinishedRequest, RequestEvents } from '../../http/contract/request.ts';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
} from '@opentelemetry/sdk-trace';
import type { TraceSettings } from './trace-settings.ts';

/**
 * Parses the header `traceparent`; undefined where it is absent or invalid.
 *
 * @see https://www.w3.org/TR/trace-context/
 */
export function traceParent(header: string | undefined): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', flags = ''] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(header ?? '') ?? [];
  if (version === undefined || version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

const rooms = { s3: 'S3', sts: 'STS', admin: 'Admin', console: 'Console', other: 'HTTP' } as const;

/** Spans of requests, and of the work for them. */
export class Tracing {
  readonly #tracer: Tracer;
  readonly #current = new AsyncLocalStorage<Context>();
  readonly #requests = new WeakMap<FinishedRequest['request'], Span>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /** Wraps a handler: each request gets a span that ends with its answer. */
  handler(inner: RequestHandler, events: RequestEvents): RequestHandler {
    events.subscribe((finished) => this.#finish(finished));
    return (request) => {
      const context = this.#begin(request);
      return this.#current.run(context, () => inner(request));
    };
  }

  /** Runs work in a span where its request is traced; runs it without one elsewhere. */
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

  /** Starts a span that ends when the caller calls `end`. */
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

  #finish({ request, api, operation, bucket, key, status, outcome, refusal }: FinishedRequest): void {
    const span = this.#requests.get(request);
    if (span === undefined) return;
    if (operation !== undefined) span.updateName(`${rooms[api]}.${operation}`);
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

/** The resource type of the provider: its package is not a dependency. */
type Resource = NonNullable<NonNullable<ConstructorParameters<typeof TracerProvider>[0]>['resource']>;

interface OpenTracing {
  readonly tracing: Tracing;
  /** Sends the remaining spans within this many milliseconds. */
  close(withinMs: number): Promise<void>;
}

/** Opens tracing. Spans are sent in batches from a bounded queue; while the collector is away, only spans are lost. */
export function openTracing(settings: TraceSettings, version: string): OpenTracing {
  const processor = new BatchSpanProcessor({
    exporter: new OTLPTraceExporter(),
    maxQueueSize: settings.queueSize,
    maxExportBatchSize: settings.batchSize,
    scheduledDelayMillis: settings.delayMs,
  });
  const provider = new TracerProvider({
    sampler: samplerOf(settings),
    resource: resourceOf({ ...settings.attributes, 'service.version': version }),
    spanProcessors: [processor],
  });
  return {
    tracing: new Tracing(provider.getTracer('coffer-server', version)),
    async close(withinMs) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, withinMs);
      });
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      clearTimeout(timer);
    },
  };
}

function samplerOf({ sampler, parentBased }: TraceSettings): Sampler {
  const root =
    sampler.kind === 'ratio'
      ? new TraceIdRatioBasedSampler(sampler.ratio)
      : sampler.kind === 'on'
        ? new AlwaysOnSampler()
        : new AlwaysOffSampler();
  return parentBased ? new ParentBasedSampler({ root }) : root;
}

function resourceOf(attributes: Readonly<Record<string, string>>): Resource {
  return {
    attributes,
    merge: (other) => resourceOf({ ...attributes, ...(other?.attributes as Record<string, string> | undefined) }),
    getRawAttributes: () => Object.entries(attributes),
  };
}
