/** The trace settings of OpenTelemetry's standard variables. The exporter itself reads address and headers. */
export interface TraceSettings {
  readonly sampler: { readonly kind: 'on' | 'off' } | { readonly kind: 'ratio'; readonly ratio: number };
  /** True where the sampling decision of a caller counts. */
  readonly parentBased: boolean;
  readonly attributes: Readonly<Record<string, string>>;
  /** The maximum of spans that wait; more are dropped. */
  readonly queueSize: number;
  readonly batchSize: number;
  readonly delayMs: number;
  /** Warnings about values that cannot be used. */
  readonly warnings: readonly string[];
}

type Variables = Readonly<Record<string, string | undefined>>;

const samplers: Readonly<Record<string, readonly [kind: 'on' | 'off' | 'ratio', parentBased: boolean]>> = {
  always_on: ['on', false],
  always_off: ['off', false],
  traceidratio: ['ratio', false],
  parentbased_always_on: ['on', true],
  parentbased_always_off: ['off', true],
  parentbased_traceidratio: ['ratio', true],
};

/**
 * Returns undefined without a trace address: nothing is sent to a default one.
 *
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export function traceSettings(variables: Variables): TraceSettings | undefined {
  const given = (name: string) => variables[name]?.trim() || undefined;
  const address = given('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? given('OTEL_EXPORTER_OTLP_ENDPOINT');
  const exporters = given('OTEL_TRACES_EXPORTER') ?? 'otlp';
  if (address === undefined || exporters !== 'otlp') return undefined;
  if (given('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined;
  const warnings: string[] = [];
  const protocol = given('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? given('OTEL_EXPORTER_OTLP_PROTOCOL') ?? 'http/json';
  if (protocol !== 'http/json') {
    warnings.push(
      `OTEL_EXPORTER_OTLP_PROTOCOL is ${protocol}: traces are sent as http/json, which collectors take too`,
    );
  }
  const name = given('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on';
  const known = samplers[name];
  if (known === undefined)
    warnings.push(`OTEL_TRACES_SAMPLER is ${name}: expected one of ${Object.keys(samplers).join(', ')}`);
  const [kind, parentBased] = known ?? ['on', true];
  const number = (variable: string, otherwise: number) => {
    const text = given(variable);
    const value = text === undefined ? otherwise : Number(text);
    if (value >= 0) return value;
    warnings.push(`${variable} is ${text}: expected a number`);
    return otherwise;
  };
  const queueSize = Math.max(1, number('OTEL_BSP_MAX_QUEUE_SIZE', 2_048));
  return {
    sampler: kind === 'ratio' ? { kind, ratio: Math.min(1, number('OTEL_TRACES_SAMPLER_ARG', 1)) } : { kind },
    parentBased,
    attributes: {
      'service.name': 'coffer-server',
      ...attributesOf(given('OTEL_RESOURCE_ATTRIBUTES')),
      ...(given('OTEL_SERVICE_NAME') === undefined ? {} : { 'service.name': given('OTEL_SERVICE_NAME') ?? '' }),
    },
    queueSize,
    batchSize: Math.min(queueSize, Math.max(1, number('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512))),
    delayMs: number('OTEL_BSP_SCHEDULE_DELAY', 5_000),
    warnings,
  };
}

/** `key=value,key=value`, percent-encoded. */
function attributesOf(text: string | undefined): Record<string, string> {
  const pairs = (text ?? '').split(',').map((pair) => pair.split('=').map((part) => part.trim()));
  return Object.fromEntries(
    pairs
      .filter(([key, value]) => key !== '' && value !== undefined)
      .map(([key, value]) => [key, decoded(value ?? '')]),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
