import type { CDPSession, Page } from 'playwright-core';

/** What the main thread of a page did in one phase of a test. */
export interface Phase {
  readonly name: string;
  /** Milliseconds of the longest task; 0 where none took 50 ms, from which on Chromium reports tasks. */
  readonly longest: number;
  /** The tasks of 50 ms and more. */
  readonly long: number;
  /** Bytes of the JavaScript heap after a garbage collection. */
  readonly heap: number;
}

/** Watches the long tasks and the heap of a page, also over reloads. */
export class MainThread {
  readonly phases: Phase[] = [];
  readonly #page: Page;
  readonly #session: CDPSession;

  private constructor(page: Page, session: CDPSession) {
    this.#page = page;
    this.#session = session;
  }

  /** Pages that are loaded later are watched. */
  static async watch(page: Page): Promise<MainThread> {
    await page.addInitScript(`
      globalThis.longTasks = [];
      globalThis.taskObserver = new PerformanceObserver((list) => longTasks.push(...list.getEntries()));
      taskObserver.observe({ type: 'longtask' });
    `);
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    await session.send('HeapProfiler.enable');
    return new MainThread(page, session);
  }

  /** Does a part of the test. The page stays the same in it. */
  async during<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    await this.#takeTasks();
    const result = await work();
    const tasks = await this.#takeTasks();
    const heap = await this.heap();
    this.phases.push({ name, longest: Math.max(0, ...tasks), long: tasks.length, heap });
    return result;
  }

  async heap(): Promise<number> {
    // What the first collection finalizes the second one frees.
    await this.#session.send('HeapProfiler.collectGarbage');
    await this.#session.send('HeapProfiler.collectGarbage');
    const { metrics } = await this.#session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0;
  }

  /** Milliseconds of the tasks since the last call. What was begun by then has ended, and is painted. */
  #takeTasks(): Promise<readonly number[]> {
    return this.#page.evaluate<number[]>(`
      new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))
        .then(() => [...longTasks.splice(0), ...taskObserver.takeRecords()].map(({ duration }) => duration))
    `);
  }
}

/** One line for people. */
export function describePhase({ name, longest, long, heap }: Phase): string {
  const tasks = long === 0 ? 'no task of 50 ms' : `longest task ${longest} ms, ${long} of 50 ms and more`;
  return `${name}: ${tasks}; heap ${(heap / 2 ** 20).toFixed(1)} MiB`;
}
