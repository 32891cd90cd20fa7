import { describe, expect, it } from 'vitest';
import { keyServiceMetrics } from './key-service-metrics.ts';

const text = `# HELP kes_http_request_success Calls answered by a status of 2xx
# TYPE kes_http_request_success counter
kes_http_request_success{code="200"} 41
kes_http_request_success{code="204"} 1
kes_http_request_error{code="403"} 3
kes_http_request_active 2
kes_http_response_time_bucket{le="0.01"} 30
kes_http_response_time_bucket{le="1.5"} 44
kes_http_response_time_bucket{le="+Inf"} 45
kes_http_response_time_sum 1.25
kes_http_response_time_count 45
kes_system_up_time 61.7
kes_system_mem_heap_used 1.2e+07
keysvc_keystore_up 1
`;

describe('the metrics of a key service', () => {
  it('are those that clients of the admin API read', () => {
    expect(keyServiceMetrics(text)).toEqual({
      kes_http_request_success: 42,
      kes_http_request_error: 3,
      kes_http_request_failure: 0,
      kes_http_request_active: 2,
      kes_log_audit_events: 0,
      kes_log_error_events: 0,
      kes_http_response_time: { 10000000: 30, 1500000000: 44 },
      kes_system_up_time: 62,
      kes_system_num_cpu: 0,
      kes_system_num_cpu_used: 0,
      kes_system_num_threads: 0,
      kes_system_mem_heap_used: 12_000_000,
      kes_system_mem_heap_objects: 0,
      kes_system_mem_stack_used: 0,
    });
  });
});
