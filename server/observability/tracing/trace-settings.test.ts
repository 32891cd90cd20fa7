import { describe, expect, it } from 'vitest';
import { traceSettings } from './trace-settings.ts';

const somewhere = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

describe('the standard variables of OpenTelemetry', () => {
  it.each([
    [{}],
    [{ OTEL_SERVICE_NAME: 'store' }],
    [{ ...somewhere, OTEL_SDK_DISABLED: 'true' }],
    [{ ...somewhere, OTEL_TRACES_EXPORTER: 'none' }],
  ])('ask for no traces by %j', (variables) => {
    expect(traceSettings(variables)).toBeUndefined();
  });

  it('ask for traces by an address, as a whole or of traces alone', () => {
    const expected = {
      sampler: { kind: 'on' },
      parentBased: true,
      attributes: { 'service.name': 'coffer-server' },
      queueSize: 2_048,
      batchSize: 512,
      delayMs: 5_000,
      warnings: [],
    };
    expect(traceSettings(somewhere)).toEqual(expected);
    expect(traceSettings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' })).toEqual(expected);
  });

  it.each([
    ['always_on', undefined, { kind: 'on' }, false],
    ['always_off', undefined, { kind: 'off' }, false],
    ['traceidratio', '0.25', { kind: 'ratio', ratio: 0.25 }, false],
    ['parentbased_traceidratio', '0.1', { kind: 'ratio', ratio: 0.1 }, true],
    ['parentbased_always_off', undefined, { kind: 'off' }, true],
  ] as const)('sample by %s', (name, argument, sampler, parentBased) => {
    const variables = { ...somewhere, OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument };
    expect(traceSettings(variables)).toMatchObject({ sampler, parentBased, warnings: [] });
  });

  it('name the service; its own variable counts for more than the list', () => {
    const variables = {
      ...somewhere,
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=listed,deployment.environment=a%20b,',
      OTEL_SERVICE_NAME: 'store',
    };
    expect(traceSettings(variables)?.attributes).toEqual({ 'service.name': 'store', 'deployment.environment': 'a b' });
  });

  it('are warned of where they cannot be used, and something is done all the same', () => {
    const found = traceSettings({
      ...somewhere,
      OTEL_TRACES_SAMPLER: 'jaeger_remote',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_BSP_MAX_QUEUE_SIZE: 'many',
    });
    expect(found).toMatchObject({ sampler: { kind: 'on' }, queueSize: 2_048 });
    expect(found?.warnings).toEqual([
      expect.stringMatching(/OTEL_EXPORTER_OTLP_PROTOCOL is grpc/),
      expect.stringMatching(/OTEL_TRACES_SAMPLER is jaeger_remote/),
      expect.stringMatching(/OTEL_BSP_MAX_QUEUE_SIZE is many/),
    ]);
  });
});
