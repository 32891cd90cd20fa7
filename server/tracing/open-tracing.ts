import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Sampler } from '@opentelemetry/sdk-trace';
import type { TraceSettings } from './trace-settings.ts';
import { Tracing } from './tracing.ts';

/** As the provider wants it; the package that makes them is not one of ours. */
type Resource = NonNullable<NonNullable<ConstructorParameters<typeof TracerProvider>[0]>['resource']>;

export interface OpenTracing {
  readonly tracing: Tracing;
  /** Sends what is left, in so many milliseconds. */
  close(withinMs: number): Promise<void>;
}

/** Spans are sent in batches, a bounded number waits, and a collector that is away costs spans alone. */
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
