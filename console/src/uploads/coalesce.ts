interface Coalesced {
  readonly call: () => void;
  /** Forgets the calls that wait. */
  readonly stop: () => void;
}

/** Calls `notify` at once, and then at most once in `ms` milliseconds, also for the last of the calls. */
export function coalesce(notify: () => void, ms: number): Coalesced {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let waits = false;

  function rest(): void {
    timer = setTimeout(() => {
      timer = undefined;
      if (!waits) return;
      waits = false;
      rest();
      notify();
    }, ms);
  }

  return {
    call() {
      if (timer !== undefined) {
        waits = true;
        return;
      }
      rest();
      notify();
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
      waits = false;
    },
  };
}
