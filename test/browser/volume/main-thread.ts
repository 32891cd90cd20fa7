import type { CDPSession, Page } from 'playwright-core';
import { report } from '../../support/report.ts';

/** What the main thread of a page did in one phase of a test. */
export interface Phase {
  readonly name: string;
  /** Milliseconds of the longest task, from its begin to its end. Other programs of the machine may have stopped it meanwhile. */
  readonly longest: number;
  /** Milliseconds of the processor that the most expensive task took. */
  readonly processor: number;
  /** Bytes of the JavaScript heap after a garbage collection. */
  readonly heap: number;
}

/** Watches the tasks and the heap of a page by what Chromium itself records. */
export class MainThread {
  readonly phases: Phase[] = [];
  readonly #page: Page;
  readonly #session: CDPSession;

  private constructor(page: Page, session: CDPSession) {
    this.#page = page;
    this.#session = session;
  }

  static async watch(page: Page): Promise<MainThread> {
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    await session.send('HeapProfiler.enable');
    return new MainThread(page, session);
  }

  /** Does a part of the test, and reports what it cost. */
  async during<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const browser = this.#page.context().browser();
    if (browser === null) throw new Error('the page belongs to no browser that records');
    await browser.startTracing(this.#page, { categories: ['-*', 'toplevel'] });
    let result: Result;
    let tasks: readonly Task[] = [];
    try {
      result = await work();
      // What was begun by then has ended, and is painted.
      await this.#page.evaluate(
        'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))',
      );
    } finally {
      tasks = tasksOf(await browser.stopTracing());
    }
    // Without a task, the recording is not what it was taken for.
    if (tasks.length === 0) throw new Error(`Chromium recorded no task while ${name}`);
    const longest = Math.round(Math.max(...tasks.map(({ dur = 0 }) => dur)) / 1000);
    const processor = Math.round(Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000);
    const phase = { name, longest, processor, heap: await this.heap() };
    this.phases.push(phase);
    report(describePhase(phase));
    return result;
  }

  async heap(): Promise<number> {
    // What the first collection finalizes the second one frees.
    await this.#session.send('HeapProfiler.collectGarbage');
    await this.#session.send('HeapProfiler.collectGarbage');
    const { metrics } = await this.#session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0;
  }
}

/** An event of a recording. Times are in microseconds. */
interface Task {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly dur?: number;
  /** The time of the processor. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** The tasks of the main threads of pages. */
function tasksOf(recording: Buffer): readonly Task[] {
  const { traceEvents } = JSON.parse(recording.toString()) as { readonly traceEvents: readonly Task[] };
  const threadOf = ({ pid, tid }: Task) => `${pid} ${tid}`;
  const main = new Set(
    traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain').map(threadOf),
  );
  return traceEvents.filter((event) => event.ph === 'X' && event.name.endsWith('RunTask') && main.has(threadOf(event)));
}

/** One line for people. */
function describePhase({ name, longest, processor, heap }: Phase): string {
  return `${name}: longest task ${longest} ms, most processor time of a task ${processor} ms; heap ${(heap / 2 ** 20).toFixed(1)} MiB`;
}
