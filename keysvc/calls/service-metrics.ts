import { droppedLogLines, droppedLogLinesHelp } from '../../platform/output/log-output.ts';
import { readdirSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Upper bounds of the buckets of response times, in seconds. Clients of the protocol expect these. */
const buckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 3, 5, 10];

/**
 * The metrics of the service under the names of the protocol. Parsers of clients demand exactly one sample for each family, except those by
 * status code.
 */
export class ServiceMetrics {
  readonly #registry = new Registry();
  readonly #success = this.#byCode('kes_http_request_success', 'Calls answered by a status of 2xx', '200');
  readonly #error = this.#byCode('kes_http_request_error', 'Calls refused by a status of 4xx', '400');
  readonly #failure = this.#byCode('kes_http_request_failure', 'Calls that failed by a status of 5xx', '500');
  readonly #active = this.#gauge('kes_http_request_active', 'Calls that are being answered');
  readonly #time = new Histogram({
    name: 'kes_http_response_time',
    help: 'Seconds until a call was answered',
    buckets,
    registers: [this.#registry],
  });
  readonly #errorEvents = this.#counter('kes_log_error_events', 'Failures in the error log');
  readonly #auditEvents = this.#counter('kes_log_audit_events', 'Calls in the audit log');

  constructor(startedAt: number, now: () => number) {
    this.#gauge('kes_system_up_time', 'Seconds since the start', () => (now() - startedAt) / 1000);
    this.#gauge('kes_system_num_cpu', 'Processors of the machine', () => cpus().length);
    this.#gauge('kes_system_num_cpu_used', 'Processors that the service may use', availableParallelism);
    this.#gauge('kes_system_num_threads', 'Threads of the process', threads);
    this.#gauge('kes_system_mem_heap_used', 'Bytes of heap in use', () => process.memoryUsage().heapUsed);
    this.#dropped();
    // Node does not report these two, and clients demand a sample.
    this.#gauge('kes_system_mem_heap_objects', 'Objects on the heap: not known, always 0', () => 0);
    this.#gauge('kes_system_mem_stack_used', 'Bytes of stack in use: not known, always 0', () => 0);
  }

  /** Adds the state of the key store. */
  addKeyStore(isDown: () => boolean): void {
    const help = 'Whether the key store answered when it was last asked: 1, or 0';
    this.#gauge('keysvc_keystore_up', help, () => (isDown() ? 0 : 1));
  }

  /** Adds the end of the validity of the certificate in use, milliseconds since 1970. */
  addCertificate(expires: () => number): void {
    const help = 'End of the validity of the certificate, seconds since 1970';
    this.#gauge('keysvc_tls_certificate_expires_seconds', help, () => expires() / 1000);
  }

  began(): void {
    this.#active.inc();
  }

  answered(status: number, seconds: number): void {
    this.#active.dec();
    this.#time.observe(seconds);
    const family = status < 400 ? this.#success : status < 500 ? this.#error : this.#failure;
    family.inc({ code: String(status) });
  }

  audited(): void {
    this.#auditEvents.inc();
  }

  failed(): void {
    this.#errorEvents.inc();
  }

  /** Returns all metrics in the text format of Prometheus. */
  async text(): Promise<{ readonly contentType: string; readonly text: string }> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  /** Starts with a sample of 0, since clients treat a family without a sample as an error. */
  #byCode(name: string, help: string, usual: string): Counter<'code'> {
    const counter = new Counter({ name, help, labelNames: ['code'], registers: [this.#registry] });
    counter.inc({ code: usual }, 0);
    return counter;
  }

  #counter(name: string, help: string): Counter {
    return new Counter({ name, help, registers: [this.#registry] });
  }

  #dropped(): void {
    // oxlint-disable-next-line no-new -- a counter lives in its registry
    new Counter({
      name: 'keysvc_log_lines_dropped_total',
      help: droppedLogLinesHelp,
      registers: [this.#registry],
      collect() {
        this.reset();
        this.inc(droppedLogLines());
      },
    });
  }

  #gauge(name: string, help: string, read?: () => number): Gauge {
    return new Gauge({
      name,
      help,
      registers: [this.#registry],
      ...(read === undefined
        ? {}
        : {
            collect() {
              this.set(read());
            },
          }),
    });
  }
}

/** Systems without `/proc` count the one thread that answers calls. */
function threads(): number {
  try {
    return readdirSync('/proc/self/task').length;
  } catch {
    return 1;
  }
}
