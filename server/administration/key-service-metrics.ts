/** Families with a sample for each status code, which are added up. */
const byCode = ['kes_http_request_success', 'kes_http_request_error', 'kes_http_request_failure'] as const;
const single = [
  'kes_http_request_active',
  'kes_log_audit_events',
  'kes_log_error_events',
  'kes_system_up_time',
  'kes_system_num_cpu',
  'kes_system_num_cpu_used',
  'kes_system_num_threads',
  'kes_system_mem_heap_used',
  'kes_system_mem_heap_objects',
  'kes_system_mem_stack_used',
] as const;
const responseTime = 'kes_http_response_time';
const nanoseconds = 1e9;

/**
 * Reads the metrics of a key service, in the text format of Prometheus, as clients of the admin API expect them: whole numbers, and the response
 * times as the calls within each bound, by its nanoseconds. A family that the service does not have is 0, since these clients read no absence.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
export function keyServiceMetrics(text: string): Readonly<Record<string, unknown>> {
  const samples = text.split('\n').flatMap(sampleOf);
  const sum = (name: string) =>
    Math.round(samples.filter((sample) => sample.name === name).reduce((total, { value }) => total + value, 0));
  const buckets = samples.flatMap(({ name, labels, value }) => {
    const bound = Number(/\ble="([^"]+)"/.exec(labels)?.[1]);
    return name === `${responseTime}_bucket` && Number.isFinite(bound)
      ? [[String(Math.round(bound * nanoseconds)), value] as const]
      : [];
  });
  return {
    ...Object.fromEntries([...byCode, ...single].map((name) => [name, sum(name)])),
    [responseTime]: Object.fromEntries(buckets),
  };
}

interface Sample {
  readonly name: string;
  /** `code="200"`; empty without labels. */
  readonly labels: string;
  readonly value: number;
}

function sampleOf(line: string): readonly Sample[] {
  const [, name, labels = '', value] = /^([a-z_]\w*)(?:\{(.*)\})? (\S+)(?: \d+)?$/.exec(line) ?? [];
  const read = Number(value);
  return name === undefined || !Number.isFinite(read) ? [] : [{ name, labels, value: read }];
}
